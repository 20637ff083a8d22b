"""Exercise 5.8: a loop that clears, and takes the path of one that never does."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from types import TracebackType
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, Draw, cases, model_and_batch, without_global_draws
from course_utils.lessons.training import PARAMETERS, Batch, batches_of, parameters_after

Spec = Mapping[str, Any]

LEFT = "gradients that held something of earlier batches"
UNTOUCHED = "of these, gradients that nobody had touched since the backward before"


class Switch(nn.Module):
    """A trunk and two heads: the sign of a batch's first entry says which head it uses."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Linear(3, 4)
        self.heads = nn.ModuleList([nn.Linear(4, 2), nn.Linear(4, 2)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.heads[int(x.flatten()[0] > 0)](torch.tanh(self.trunk(x)))
        return out


class OwnGradients:
    """In its block: looks after each backward whether `.grad` holds anything from before the last update."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._handles: list[torch.utils.hooks.RemovableHandle] = []
        self.mixed: set[str] = set()
        """Names of the parameters whose `.grad` did."""
        self.untouched: set[str] = set()
        """Those whose `.grad` was, when a backward came, what the one before had left there."""

    def __enter__(self) -> OwnGradients:
        for name, parameter in self._model.named_parameters():
            if parameter.requires_grad:
                self._watch(name, parameter)
        return self

    def _watch(self, name: str, parameter: nn.Parameter) -> None:
        before = parameter.detach().clone()
        last = all_since = torch.zeros_like(before)  # what the last backward brought, and all since the last update
        left: tuple[torch.Tensor | None, int] = None, 0

        def arrives(gradient: torch.Tensor) -> None:
            nonlocal before, last, all_since
            if left[0] is not None and parameter.grad is left[0] and parameter.grad._version == left[1]:
                self.untouched.add(name)
            last = gradient.detach().clone()
            # A batch may be taken in parts: what they bring adds up as long as the parameter stays where it is.
            all_since = all_since + last if torch.equal(before, parameter.detach()) else last
            before = parameter.detach().clone()

        def added(held: torch.Tensor) -> None:
            nonlocal left
            if held.grad is not None and not any(torch.equal(held.grad, own) for own in (last, all_since)):
                self.mixed.add(name)
            left = (None, 0) if held.grad is None else (held.grad, held.grad._version)

        self._handles.append(parameter.register_hook(arrives))
        self._handles.append(parameter.register_post_accumulate_grad_hook(added))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for handle in self._handles:
            handle.remove()


def _cases(seed: int) -> list[Case]:
    chance = Random(seed)
    heads = [0, *chance.choice([(1, 0, 1, 1), (1, 1, 0, 0), (1, 0, 0, 1)])]

    def row(name: str, rows: list[int], **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"model": "mlp", "rows": rows, "lr": 0.05, **rest}

    return cases(
        seed,
        [
            row("one batch", [4]),
            row("two batches", [4, 4]),
            row("three batches, a linear model", [4, 4, 4], model="linear"),
            row("six batches", [4] * 6),
            row("batches of 5, 1, 3 and 2 rows", [5, 1, 3, 2]),
            row("a larger step", [4, 4, 4], lr=0.3),
            row("large targets, and a small step", [4, 4, 4], lr=1e-5, size_of_targets=1000.0),
            row("a loss that tells prediction and target apart", [4, 4, 4], loss="poisson"),
            row("a frozen weight", [4, 4, 4], model="frozen"),
            row("one weight tied to two places", [4, 4, 4], model="tied"),
            row("a layer that no batch uses", [4, 4, 4], model="unused"),
            row("layers that some batches use", [4] * 5, model="switch", heads=heads),
            row("dropout and batch norm in eval mode", [4, 4, 4], model="eval"),
            row("dropout and batch norm alone in eval mode", [4, 4, 4], model="part eval"),
            row("float32, four batches", [4] * 4, dtype="float32"),
            row("float32, layers that some batches use", [4] * 5, model="switch", heads=heads, dtype="float32"),
        ],
    )


def model_of(case: Case) -> nn.Module:
    """The model of a case, its `.grad` empty."""
    if case.spec["model"] == "switch":
        return Draw(case).fill(without_global_draws(Switch))
    return model_and_batch(case)[0]


def _batches(case: Case) -> list[Batch]:
    batches = batches_of(case)
    for (x, _), head in zip(batches, case.spec.get("heads", ()), strict=False):
        x[:, 0] = x[:, 0].abs() * (1 if head else -1)  # each row by itself chooses the same head
    return batches


def _arrange(case: Case) -> Arrangement:
    model, batches = model_of(case), _batches(case)
    looking = OwnGradients(model)
    return Arrangement(
        (model, LOSSES[case.spec.get("loss", "squared error")], batches, case.spec["lr"]),
        watch={"model": model, "batches": batches},
        within=(looking,),
        facts=lambda _: {
            PARAMETERS: parameters_after(model),
            LEFT: sorted(looking.mixed),
            UNTOUCHED: sorted(looking.mixed & looking.untouched),
        },
    )


OWN = (
    "Right after a backward, `.grad` holds nothing of an earlier batch's gradient. What it holds between that and the step "
    "is up to you."
)

EXERCISE = Exercise(
    id="5.8",
    name="momentum_twin",
    title="The same path, with clears",
    difficulty=3,
    minutes=20,
    goal=(
        "A loop trains `model` with `torch.optim.SGD(model.parameters(), lr=lr)`: for each pair `(x, y)` of `batches`, in "
        "order and once, it calls backward on `loss_fn(model(x), y)` and steps, and it never clears. Write "
        "`momentum_twin(model, loss_fn, batches, lr)`, a loop that clears as it should and takes the same path: it trains "
        "`model` in place, and afterwards each parameter is where that loop would have left it, to rounding.\n\n"
        "Any optimizer is allowed, and none. When the call begins, every `.grad` is None; what it holds afterwards does "
        "not matter, nor does what you return. A parameter may be frozen, and one may have no part in the loss of some "
        "batches, or of any. Train or eval mode stays as it is, of "
        "each layer."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    loop=True,
    rules=(OWN,),
    hints=(
        "Write down what the loop without clears subtracts at its first step, at its second, at its third, in terms of "
        "the single gradients g1, g2, g3. Which sum does each step use?",
        "A running sum of all gradients so far, times lr. Some optimizer keeps such a sum as its state, between the steps "
        "and apart from .grad. What must its numbers be so that nothing fades?",
        "SGD's momentum buffer becomes momentum times itself plus the gradient. With momentum=1 nothing fades, and with "
        "dampening at its default of 0 the new gradient counts in full.",
        "Then there is the layer that a batch does not use. The loop without clears still moves it, by what its .grad "
        "holds from earlier. What does SGD do with a parameter whose .grad is None, and what with zeros? Section 3 of "
        "lesson 3 has the answer.",
    ),
    properties=(
        ("there is one batch", lambda spec: len(spec["rows"]) == 1),
        ("there is more than one batch", lambda spec: len(spec["rows"]) > 1),
        ("there are more than two batches", lambda spec: len(spec["rows"]) > 2),
        ("some batches leave out a layer that others use", lambda spec: spec["model"] == "switch"),
        ("a layer has no part in any loss", lambda spec: spec["model"] == "unused"),
        ("the batches are of different sizes", lambda spec: len(set(spec["rows"])) > 1),
        ("the loss tells prediction and target apart", lambda spec: "loss" in spec),
        ("the targets are large", lambda spec: "size_of_targets" in spec),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("the model is in eval mode", lambda spec: spec["model"] == "eval"),
        ("parts of the model alone are in eval mode", lambda spec: spec["model"] == "part eval"),
        ("dropout and batch norm are in eval mode", lambda spec: spec["model"] in ("eval", "part eval")),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    quantities={
        "the number of batches": lambda spec: len(spec["rows"]),
        "lr": lambda spec: spec["lr"],
    },
)
