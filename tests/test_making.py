"""An optimizer is said to be made where it was asked for, not in the helper that makes them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gradient_ledger import GradientLedger
from gradient_ledger.events import OptimizerFacts

pytestmark = pytest.mark.turns

SGD, Optimizer = torch.optim.SGD, torch.optim.Optimizer


def at_once(model: nn.Module) -> Optimizer:
    return SGD(model.parameters(), lr=0.1)  # within at_once


def by_name(model: nn.Module) -> Optimizer:
    optimizer = SGD(model.parameters(), lr=0.1)  # within by_name
    return optimizer


def through_another(model: nn.Module) -> Optimizer:
    optimizer = by_name(model)
    return optimizer


def one_by_one(models: Iterable[nn.Module]) -> list[Optimizer]:
    found = []
    for model in models:
        optimizer = by_name(model)  # one by one
        found.append(optimizer)
    return found


class Trainer:
    def __init__(self, model: nn.Module):
        self.model = model
        self.optimizer = SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)  # within Trainer

    def train(self) -> None:
        steps([self.model], [self.optimizer])


class Own(Optimizer):
    def __init__(self, parameters: Any, lr: float):
        super().__init__(parameters, {"lr": lr})

    def step(self, closure: Any = None) -> Any:
        return None


def steps(models: Iterable[nn.Module], optimizers: Iterable[Optimizer]) -> None:
    for model, optimizer in zip(models, optimizers, strict=True):
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()


# What asks for two optimizers, and the lines that should be named.


def two_lines(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    first = by_name(a)
    second = by_name(b)
    return [first, second]


def one_line(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    first, second = at_once(a), at_once(b)
    return [first, second]


def a_helper_in_a_helper(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    first = through_another(a)
    second = through_another(b)
    return [first, second]


def two_helpers(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    first = through_another(a)
    second = by_name(b)
    return [first, second]


def a_comprehension(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    found = [by_name(model) for model in (a, b)]
    return found


def a_dict(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    found = {
        model: through_another(model)  # in the dict
        for model in (a, b)
    }
    return list(found.values())


def a_generator(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    found = tuple(by_name(model) for model in (a, b))
    return list(found)


def a_loop_in_a_helper(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    found = one_by_one([a, b])
    return found


def objects(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    first = Trainer(a)
    second = Trainer(b)
    return [first.optimizer, second.optimizer]


def objects_in_a_list(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    both = [Trainer(model) for model in (a, b)]
    return [one.optimizer for one in both]


def a_class_of_ones_own(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    first = Own(a.parameters(), 0.1)
    second = SGD(b.parameters(), lr=0.1)
    return [first, second]


def each_for_itself(a: nn.Module, b: nn.Module) -> list[Optimizer]:
    first = by_name(a)
    second = at_once(b)
    return [first, second]


@pytest.mark.parametrize(
    ("ask", "lines", "helper"),
    [
        (two_lines, ("first = by_name(a)", "second = by_name(b)"), True),
        (one_line, ("first, second = at_once(a), at_once(b)",) * 2, True),
        (a_helper_in_a_helper, ("first = through_another(a)", "second = through_another(b)"), True),
        (two_helpers, ("optimizer = by_name(model)", "second = by_name(b)"), True),
        (a_comprehension, ("found = [by_name(model) for model in (a, b)]",) * 2, True),
        (a_dict, ("model: through_another(model)  # in the dict",) * 2, True),
        (a_generator, ("found = tuple(by_name(model) for model in (a, b))",) * 2, True),
        (a_loop_in_a_helper, ("optimizer = by_name(model)  # one by one",) * 2, True),
        (objects, ("first = Trainer(a)", "second = Trainer(b)"), True),
        (objects_in_a_list, ("both = [Trainer(model) for model in (a, b)]",) * 2, True),
        (a_class_of_ones_own, ("first = Own(a.parameters(), 0.1)", "second = SGD(b.parameters(), lr=0.1)"), False),
        (
            each_for_itself,
            ("optimizer = SGD(model.parameters(), lr=0.1)  # within by_name", "second = at_once(b)"),
            False,
        ),
    ],
)
def test_one_of_several_optimizers_is_made_where_it_was_asked_for(
    ask: Callable[[nn.Module, nn.Module], list[Optimizer]], lines: tuple[str, str], helper: bool
) -> None:
    with GradientLedger() as ledger:
        models = nn.Linear(2, 1), nn.Linear(2, 1)
        optimizers = ask(*models)
        steps(models, optimizers)
        steps(models, optimizers)
    assert tuple(code(one) for one in ledger.log.optimizers) == lines
    assert {one.helper is not None for one in ledger.log.optimizers} == {helper}


def code(one: OptimizerFacts) -> str:
    return one.made_at.code if one.made_at is not None else ""


def trained(model: nn.Module) -> None:
    optimizer = by_name(model)  # to train with
    steps([model], [optimizer])


def test_the_line_is_one_of_the_function_that_steps_however_often_it_is_called() -> None:
    with GradientLedger() as ledger:
        trained(nn.Linear(2, 1))
        for _ in range(2):
            trained(nn.Linear(2, 1))
        steps([model := nn.Linear(2, 1)], [by_name(model)])
    assert [code(one) for one in ledger.log.optimizers[:3]] == ["optimizer = by_name(model)  # to train with"] * 3


def test_what_made_one_after_the_other_is_as_good_as_the_call_that_is_repeated() -> None:
    with GradientLedger() as ledger:
        for _ in range(3):
            trainer = Trainer(nn.Linear(2, 1))
            trainer.train()
    wanted = "self.optimizer = SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)  # within Trainer"
    assert [code(one) for one in ledger.log.optimizers] == [wanted] * 3


def test_an_object_that_follows_another_has_made_its_own_optimizer() -> None:
    with GradientLedger() as ledger:
        first = Trainer(nn.Linear(2, 1))
        first.train()
        second = Trainer(nn.Linear(2, 1))
        second.train()
    assert {code(one).partition("#")[2] for one in ledger.log.optimizers} == {" within Trainer"}


def test_of_two_phases_each_has_asked_for_its_own() -> None:
    with GradientLedger() as ledger:
        model = nn.Linear(2, 1)
        optimizer = by_name(model)  # first
        steps([model], [optimizer])
        optimizer = by_name(model)  # second
        steps([model], [optimizer])
    assert [code(one).partition("#")[2] for one in ledger.log.optimizers] == [" first", " second"]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head = nn.Linear(2, 3), nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.head(self.body(x).relu())
        return out


def body_alone(model: Net) -> Optimizer:
    optimizer = SGD(model.body.parameters(), lr=0.1)  # the head is left out
    return optimizer


def test_what_is_left_out_of_all_that_a_helper_makes_is_left_out_by_the_helper() -> None:
    with GradientLedger() as ledger:
        models = [Net(), Net()]
        first = body_alone(models[0])
        second = body_alone(models[1])
        steps(models, [first, second])
    (found,) = ledger.findings()
    assert found.misconception == "gradients-nobody-uses"
    assert found.where is not None and found.where.code.endswith("# the head is left out")


@pytest.mark.parametrize("which", [0, 1])
def test_what_is_left_out_of_one_is_left_out_where_that_one_was_asked_for(which: int) -> None:
    with GradientLedger() as ledger:
        models = [Net(), Net()]
        parts: list[nn.Module] = list(models)
        parts[which] = models[which].body
        first = by_name(parts[0])
        second = by_name(parts[1])
        steps(models, [first, second])
    (found,) = ledger.findings()
    assert found.where is not None
    assert found.where.code == ("first = by_name(parts[0])", "second = by_name(parts[1])")[which]
