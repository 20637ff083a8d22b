"""Exercise 3.2: what `optimizer.zero_grad()` does, by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases, without_global_draws
from course_utils.lessons.lesson3.clearing import KEPT, Before, keeps
from course_utils.lessons.lesson3.inputs import hold, share_memory
from course_utils.lessons.training import OPTIMIZERS, remembered_by

STATE = "what the optimizer remembers of each parameter"
GROUPS = "the optimizer's groups"
CALLED = "zero_grad was called"
_FIRST, _SECOND = ["0.weight", "0.bias"], ["2.weight", "2.bias"]


class _Calls:
    """In its block, notes each call of a `zero_grad`, of an optimizer or of a module."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._originals: list[tuple[Any, Callable[..., Any]]] = []

    def __enter__(self) -> None:
        for owner, name in ((torch.optim.Optimizer, "an optimizer's zero_grad"), (nn.Module, "a module's zero_grad")):
            self._originals.append((owner, owner.zero_grad))
            owner.zero_grad = self._noting(owner.zero_grad, name)  # type: ignore[method-assign]

    def __exit__(self, *_: object) -> None:
        for owner, original in self._originals:
            owner.zero_grad = original

    def _noting(self, original: Callable[..., Any], name: str) -> Callable[..., Any]:
        def zero_grad(*args: Any, **kwargs: Any) -> Any:
            self.names.append(name)
            return original(*args, **kwargs)

        return zero_grad


class _Temperature(nn.Module):
    """A parameter that is one number, 0-d."""

    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.zeros(()))


def _cases(seed: int) -> list[Case]:
    def row(name: str, optimizer: str, groups: list[list[str]], **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"optimizer": optimizer, "groups": groups, **rest}

    one, two = [_FIRST + _SECOND], [_FIRST, _SECOND]
    zeros = {"set_to_none": False}
    return cases(
        seed,
        [
            row("SGD, one group", "SGD", one),
            row("SGD, one group, set_to_none=False", "SGD", one, **zeros),
            row("two groups", "SGD", two),
            row("two groups, set_to_none=False", "SGD", two, **zeros),
            row("a layer that the optimizer does not hold", "SGD", [_FIRST], set_to_none=True),
            row("a layer that the optimizer does not hold, set_to_none=False", "SGD", [_FIRST], **zeros),
            row("momentum with a history", "momentum", one, history=2),
            row("Adam with a history, two groups, set_to_none=False", "Adam", two, history=2, **zeros),
            row(
                "Adam with a history, and a group that was added after it",
                "Adam",
                [_FIRST],
                history=2,
                added=_SECOND,
                set_to_none=True,
            ),
            row(
                "momentum with a history, and a group added after it, set_to_none=False",
                "momentum",
                [_FIRST],
                history=2,
                added=_SECOND,
                **zeros,
            ),
            row(
                "some hold no gradient, set_to_none=False",
                "SGD",
                two,
                held={"0.weight": "none", "2.bias": "none"},
                **zeros,
            ),
            row(
                "infinite and NaN gradients, one gradient of zeros",
                "SGD",
                one,
                held={"0.weight": "infinite", "0.bias": "zeros", "2.weight": "NaN"},
            ),
            row(
                "infinite and NaN gradients, set_to_none=False",
                "SGD",
                one,
                held={"0.weight": "infinite", "2.weight": "NaN"},
                **zeros,
            ),
            row(
                "gradients in one piece of memory, a layer that the optimizer does not hold, set_to_none=False",
                "SGD",
                [_FIRST],
                bucket=True,
                **zeros,
            ),
            row("a parameter of one number, set_to_none=False", "SGD", [[*_FIRST, "1.value"], _SECOND], **zeros),
            row("a frozen weight that holds a gradient", "AdamW", one, frozen=["0.weight"]),
            row(
                "float32, a frozen weight, set_to_none=False",
                "AdamW",
                two,
                frozen=["0.weight"],
                dtype="float32",
                **zeros,
            ),
        ],
    )


def _has_a_number(spec: Mapping[str, Any]) -> bool:
    return "1.value" in spec["groups"][0]


def _arrange(case: Case) -> Arrangement:
    draw, spec = Draw(case), case.spec
    middle = _Temperature() if _has_a_number(spec) else nn.Tanh()
    model = draw.fill(without_global_draws(lambda: nn.Sequential(nn.Linear(3, 4), middle, nn.Linear(4, 2))))
    named = dict(model.named_parameters())
    groups: list[Any] = [{"params": [named[name] for name in group]} for group in spec["groups"]]
    optimizer = OPTIMIZERS[spec["optimizer"]](groups, 0.05)
    for _ in range(spec.get("history", 0)):
        for param in named.values():
            hold(draw, param, "gradient")
        optimizer.step()
    if "added" in spec:
        optimizer.add_param_group({"params": [named[name] for name in spec["added"]], "lr": 0.01})
    for name, param in named.items():
        hold(draw, param, spec.get("held", {}).get(name, "gradient"))
        param.requires_grad_(name not in spec.get("frozen", ()))
    if "bucket" in spec:
        share_memory(named.values())
    before, calls = Before(named, keeps(spec)), _Calls()
    flag = {"set_to_none": spec["set_to_none"]} if "set_to_none" in spec else {}
    return Arrangement(
        (optimizer,),
        flag,
        watch={"model": model},
        within=(calls,),
        facts=lambda _: {
            **before.facts(),
            STATE: remembered_by(optimizer, model),
            GROUPS: _groups(optimizer, named),
            CALLED: calls.names,
        },
    )


def _groups(optimizer: torch.optim.Optimizer, named: dict[str, nn.Parameter]) -> list[dict[str, object]]:
    """The groups of an optimizer, with its parameters by their names."""
    return [
        {**group, "params": [name for name, param in named.items() if any(param is one for one in group["params"])]}
        for group in optimizer.param_groups
    ]


EXERCISE = Exercise(
    id="3.2",
    name="optimizer_zero_grad",
    title="zero_grad by hand",
    difficulty=1,
    minutes=6,
    goal=(
        "Write `optimizer_zero_grad(optimizer, set_to_none=True)`: what `optimizer.zero_grad(set_to_none)` does, by "
        "hand. Clear the gradient of every parameter that the optimizer holds, in all of its groups, frozen ones "
        "included. With `set_to_none=True` each `.grad` is None afterwards; with `set_to_none=False` a `.grad` that "
        "is None stays None, and one that holds a tensor, infinite or NaN as it may be, holds zeros afterwards, in "
        "the same tensor object and the same memory. Nothing else changes: not the gradients of parameters that the "
        "optimizer does not hold, not the parameters' values, not the groups, not what the optimizer remembers of "
        "earlier steps. An empty entry of `optimizer.state`, as reading one leaves it, counts as none."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad"}),
    rules=(
        "By hand: no `zero_grad` is called, of any optimizer or module, one made for the purpose included. Your 3.1 may "
        "be called.",
    ),
    hints=(
        "An optimizer is a list of references and what it remembers. Where does it keep the references? Look at "
        "`optimizer.param_groups` of any optimizer in a cell of your own.",
        "It is a list of dicts, one a group, and each dict has more in it than parameters. So there are two loops, "
        "one inside the other.",
        "The inner loop walks through what stands under the key for the parameters. What is to be done with one "
        "parameter, you have written in 3.1. What is remembered of earlier steps stands in another attribute, which "
        "you do not need.",
    ),
    properties=(
        ("the gradients lie in one piece of memory", lambda spec: "bucket" in spec),
        ("set_to_none is False", keeps),
        ("set_to_none is True or left out", lambda spec: not keeps(spec)),
        ("set_to_none is left out", lambda spec: "set_to_none" not in spec),
        ("there is one group", lambda spec: len(spec["groups"]) == 1 and "added" not in spec),
        ("there is more than one group", lambda spec: len(spec["groups"]) > 1 or "added" in spec),
        ("a group was added later", lambda spec: "added" in spec),
        ("the optimizer remembers earlier steps", lambda spec: "history" in spec),
        (
            "the optimizer does not hold every parameter of the model",
            lambda spec: len(spec["groups"]) == 1 and len(spec["groups"][0]) < 4 and "added" not in spec,
        ),
        ("a parameter is one number", _has_a_number),
        ("a .grad is None before", lambda spec: "none" in spec.get("held", {}).values()),
        ("a gradient holds NaN", lambda spec: "NaN" in spec.get("held", {}).values()),
        ("a parameter is frozen", lambda spec: "frozen" in spec),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        GROUPS: "the optimizer's groups are not what they were before the call.",
        KEPT: "still what they were are the gradients of: {given}.",
    },
    quantities={"the number of groups": lambda spec: len(spec["groups"]) + ("added" in spec)},
)
