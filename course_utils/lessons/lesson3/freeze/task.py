"""Exercise 3.3: take a module's parameters out of training, whatever the optimizer does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import Draw, cases, mean_square_error, without_global_draws
from course_utils.lessons.lesson3.inputs import hold
from course_utils.lessons.training import optimizer_of

STEPS = 3
FROZEN = "the module's parameters after further steps"
OTHERS = "the other parameters after further steps"
BUFFERS = "the buffers after further steps"
TRAINING = "the further steps"
OTHERS_GRAD = ".grad of the other parameters after the call"
REPLACED = "replaced by another object"
MOVED = "what moved of the module"
GRAD = ".grad of the module's parameters after the call"
REQUIRES = "requires_grad of the module's parameters after the call"
ATTRIBUTE = "the module has an attribute requires_grad"
NONE, ZEROS, GRADIENT = "None", "zeros", "a gradient"


class _Body(nn.Module):
    """Parts inside of parts, and a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(3))
        self.parts = nn.ModuleList([nn.Linear(3, 3), nn.Sequential(nn.Tanh(), nn.Linear(3, 4))])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second = self.parts
        out: torch.Tensor = second(first(x * self.scale))
        return out


class _Tied(nn.Module):
    """Two layers with one weight."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)
        self.second.weight = self.first.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.tanh(self.first(x)))[:, :2]  # type: ignore[no-any-return]


def _build(kind: str) -> nn.Module:
    match kind:
        case "two layers":
            return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        case "three layers":
            return nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        case "nested":
            return nn.Sequential(_Body(), nn.Tanh(), nn.Linear(4, 2))
        case "norm":
            return nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), nn.Tanh(), nn.Linear(4, 2))
        case "tied":
            return _Tied()
    raise ValueError(f"unknown model {kind!r}")


class _Training:
    """A model in training, of which the attempt freezes a part; afterwards it is trained further.

    What the attempt left is put back after the further steps, so that the watch over the model sees that alone.
    """

    def __init__(self, case: Case) -> None:
        draw, spec = Draw(case), case.spec
        self._spec = spec
        self.model = draw.fill(without_global_draws(lambda: _build(spec["model"])))
        self.part = self.model.get_submodule(spec.get("part", "0"))
        self.model.train(not spec.get("eval"))
        self._batch = draw.normal(6, 3), draw.normal(6, 2)
        self._named = dict(self.model.named_parameters())
        inside = {id(param) for param in self.part.parameters()}
        self._inside = {name: param for name, param in self._named.items() if id(param) in inside}
        self._objects: dict[str, object] = {**dict(self.part.named_parameters()), **dict(self.part.named_buffers())}
        self._make = lambda: optimizer_of(case, self.model)
        self._optimizer = None if spec.get("later") else self._make()
        for name, param in self._named.items():
            hold(draw, param, spec.get("held", "none"))
            param.requires_grad_(name not in spec.get("frozen", ()))
        self._came = {name: param.detach().clone() for name, param in self._named.items()}
        self._facts: dict[str, object] = {}

    def __call__(self, attempt: Any) -> object:
        waiting = self._loss() if self._spec.get("waiting") else None
        result = attempt(self.part)
        if result is not ...:
            self._note_what_was_left()
            kept = [(tensor, tensor.detach().clone()) for tensor in (*self._named.values(), *self.model.buffers())]
            try:
                self._train(waiting)
                self._facts[TRAINING] = "ran"
            except Exception as error:  # a graph that was cut, a parameter that is no leaf, whatever the code left
                self._facts[TRAINING] = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
            self._note_what_came_of_it()
            with torch.no_grad():
                for tensor, values in kept:
                    tensor.copy_(values)
        return result

    def _loss(self) -> torch.Tensor:
        x, y = self._batch
        return mean_square_error(self.model(x), y)

    def _train(self, waiting: torch.Tensor | None) -> None:
        """The steps of a loop, which clears where and how the case says."""
        optimizer, clears = self._optimizer or self._make(), self._spec.get("clears", "after the step")
        if self._spec.get("step_comes_next"):
            optimizer.step()
        for _ in range(STEPS):
            if clears in ("first", "first, zeros"):
                optimizer.zero_grad(set_to_none=clears == "first")
            loss = self._loss() if waiting is None else waiting
            waiting = None
            if loss.requires_grad:
                loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            if clears == "after the step":
                optimizer.zero_grad()

    def _note_what_was_left(self) -> None:
        now = {**dict(self.part.named_parameters()), **dict(self.part.named_buffers())}
        self._facts |= {
            GRAD: {name: _kind(param.grad) for name, param in self._inside.items()},
            REQUIRES: {name: param.requires_grad for name, param in self._inside.items()},
            ATTRIBUTE: "requires_grad" in vars(self.part),
            OTHERS_GRAD: {
                name: None if param.grad is None else param.grad.detach().clone()
                for name, param in self._named.items()
                if name not in self._inside
            },
            REPLACED: sorted(name for name in {*now, *self._objects} if now.get(name) is not self._objects.get(name)),
        }

    def _note_what_came_of_it(self) -> None:
        values = {name: param.detach().clone() for name, param in self._named.items()}
        self._facts |= {
            FROZEN: {name: value for name, value in values.items() if name in self._inside},
            OTHERS: {name: value for name, value in values.items() if name not in self._inside},
            BUFFERS: {name: buffer.detach().clone() for name, buffer in self.model.named_buffers()},
            MOVED: [name for name in self._inside if not torch.equal(values[name], self._came[name])],
        }

    def facts(self) -> Mapping[str, object]:
        return self._facts


def _kind(grad: torch.Tensor | None) -> str:
    return NONE if grad is None else GRADIENT if bool(grad.any()) else ZEROS


def _cases(seed: int) -> list[Case]:
    def row(name: str, model: str, optimizer: str, **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"model": model, "optimizer": optimizer, **rest}

    history = {"stepped": 2}
    return cases(
        seed,
        [
            row("the first of two layers, SGD, .grad None", "two layers", "SGD"),
            row("the same layer, a gradient waits in .grad", "two layers", "SGD", held="gradient"),
            row("a gradient waits, and a step comes next", "two layers", "SGD", held="gradient", step_comes_next=True),
            row("momentum with a history, .grad None", "two layers", "momentum", **history, clears="first"),
            row("momentum with a history, a gradient waits", "two layers", "momentum", **history, held="gradient"),
            row(
                "Adam with a history, the loop fills .grad with zeros",
                "two layers",
                "Adam",
                **history,
                held="zeros",
                clears="first, zeros",
            ),
            row(
                "weight decay, the loop fills .grad with zeros",
                "two layers",
                "decay",
                held="gradient",
                clears="first, zeros",
            ),
            row(
                "the second of three layers: the first goes on learning",
                "three layers",
                "AdamW",
                part="2",
                held="gradient",
                clears="never",
            ),
            row("parts inside of parts, and a parameter of the module's own", "nested", "decay", held="gradient"),
            row(
                "the whole model, a gradient waits, and steps come next",
                "two layers",
                "momentum",
                part="",
                **history,
                held="gradient",
                step_comes_next=True,
            ),
            row("batch norm, in train mode", "norm", "SGD", held="gradient"),
            row("batch norm, in eval mode", "norm", "Adam", **history, held="gradient", eval=True),
            row("the loss was computed before the call, its backward comes after", "two layers", "SGD", waiting=True),
            row(
                "a weight that is frozen already, and holds a gradient",
                "two layers",
                "SGD",
                frozen=["0.weight"],
                held="gradient",
            ),
            row("a weight that another layer has, too", "tied", "AdamW", part="first", **history, held="gradient"),
            row("the optimizer is made after the call", "two layers", "AdamW", held="gradient", later=True),
            row(
                "float32, Adam with a history, nothing is ever cleared",
                "nested",
                "Adam",
                **history,
                held="gradient",
                clears="never",
                dtype="float32",
            ),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    training = _Training(case)
    return Arrangement(
        (training.part,), watch={"model": training.model}, call=training, facts=lambda _: training.facts()
    )


def _moves_at_zero(spec: Any) -> bool:
    """Whether a gradient of zeros moves a parameter: by a history, or by weight decay."""
    return bool(spec.get("stepped")) or spec["optimizer"] in ("decay", "AdamW")


EXERCISE = Exercise(
    id="3.3",
    name="freeze",
    title="Freeze a module for good",
    difficulty=3,
    minutes=15,
    goal=(
        "Write `freeze(module)`, which takes the parameters of a module out of training for good, those of the parts "
        "inside of its parts included. It is called once. Afterwards no `step()` of any optimizer that holds them moves them, LBFGS "
        "excepted: made before the call or after it, with weight decay, momentum or another history. A gradient may "
        "wait in `.grad` at the call, also of a parameter that is frozen already, and the next thing may be a step. "
        "The loop may clear before the step or after it, with `set_to_none=False`, or never. A loss computed before "
        "the call may go backward after it. Everything else stays as it was: the parameters and buffers are the same "
        "objects with the same values, every module is in the same mode, and batch norm in train mode goes on with "
        "its running statistics. The module may be part of a larger model: the rest of it keeps its gradients and "
        "goes on learning, what lies in front of the module included. A parameter that the module shares with the "
        "rest is frozen for both. How you do it is yours, and a hook may stay: judged is what later backward passes "
        "and steps do, not `requires_grad`, nor what the function returns."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "requires-grad"}),
    hints=(
        "A step moves a parameter if the optimizer finds something in its .grad. Two things can be there: what was "
        "there when you were called, and what a later backward brings. Which of them does your code deal with?",
        "eval() changes how dropout and batch norm compute; it is no statement about gradients. Which attribute of a "
        "parameter says that backward shall bring it nothing?",
        "And for what is there already: with momentum, Adam or weight decay, zeros in .grad are a gradient, and the "
        "step moves the parameter. What must stand in .grad, so that a step passes a parameter by?",
    ),
    properties=(
        ("a gradient waits in .grad at the call", lambda spec: spec.get("held") == "gradient"),
        ("no gradient waits in .grad at the call", lambda spec: spec.get("held") != "gradient"),
        ("the optimizer has a history or weight decay", _moves_at_zero),
        ("the optimizer has neither a history nor weight decay", lambda spec: not _moves_at_zero(spec)),
        ("a step comes next, without a backward before it", lambda spec: bool(spec.get("step_comes_next"))),
        ("the loop fills .grad with zeros", lambda spec: spec.get("clears") == "first, zeros"),
        ("the loop never clears", lambda spec: spec.get("clears") == "never"),
        ("the module has parts inside of parts", lambda spec: spec["model"] == "nested"),
        ("the module has batch norm", lambda spec: spec["model"] == "norm"),
        ("the module is the whole model", lambda spec: spec.get("part") == ""),
        ("the module lies between two others", lambda spec: spec["model"] == "three layers"),
        ("a weight of the module is shared", lambda spec: spec["model"] == "tied"),
        ("the module is one linear layer", lambda spec: spec["model"] == "two layers" and "part" not in spec),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        MOVED: "these parameters of the module moved in the further steps: {given}.",
        GRAD: "after the call .grad holds: {given}.",
    },
)
