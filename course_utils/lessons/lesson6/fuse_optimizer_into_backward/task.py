"""Exercise 6.8: the optimizer steps inside of the last backward of a window, parameter by parameter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import BuiltinMethodType
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import (
    Draw,
    cases,
    gradients_held,
    mean_square_error,
    model_and_batch,
    without_global_draws,
)
from course_utils.lessons.training import OPTIMIZERS, Batch, batches_of, parameters_after

UPDATE = "update of the parameters by window"
AGAIN = "update of the parameters by a window after a further call of the function"
MOVED = "backward passes before the last of their window that moved parameters"
LEFT = "what is left in .grad after window"
HANDLE = "what came back"
A_HANDLE, NO_HANDLE = "an object with a method remove()", "no object with a method remove()"
MOVED_AFTER = "parameters that a backward moved after remove()"
GRAD_AFTER = ".grad after remove() and as many backward passes as a window has"
HELD = "parameters of layers left behind, with something in their .grad"
MADE = "numbers of parameters that make_optimizer was called with"
STEPPED = "most steps of one parameter in one window"
UNMOVED = "parameters that the first window did not move, though they get gradients"
MADE_LATE = "optimizers made after the function had returned"
NONE, ZEROS, GRADIENT = "none", "zeros", "a gradient"


class _Look(torch.autograd.Function):
    """The identity, which calls back when backward comes by."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, when: Callable[[], None]) -> torch.Tensor:
        ctx.when = when
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:  # type: ignore[override]
        ctx.when()
        return grad, None


class _Deep(nn.Module):
    """Three layers. Whenever backward comes to one, `look` is called with the parameters of those behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2)])
        self.look: Callable[[Mapping[str, nn.Parameter]], None] = lambda passed: None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number, layer in enumerate(self.layers):
            passed = {
                name: param
                for name, param in self.named_parameters()
                if int(name.split(".")[1]) > number and name.startswith("layers.")
            }
            x = _Look.apply(layer(x), lambda passed=passed: self.look(passed))
            x = torch.tanh(x) if number < len(self.layers) - 1 else x
        return x


class _PartlyUsed(nn.Module):
    """Of its two layers one is used without its bias, and the other not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Linear(3, 2)
        self.unused = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(x, self.used.weight)


_OWN = {"deep": _Deep, "partly used": _PartlyUsed}
"""Models of this exercise alone, by their names in a case."""


def _model_of(case: Case) -> nn.Module:
    make = _OWN.get(case.spec["model"])
    return Draw(case).fill(without_global_draws(make)) if make else model_and_batch(case)[0]


class _Training:
    """The loop around the attempt: windows of backward passes, and what each of them leaves."""

    def __init__(self, case: Case) -> None:
        self._spec = case.spec
        self.model = _model_of(case)
        self._named = dict(self.model.named_parameters())
        self._facts: dict[str, Any] = {MOVED: [], HELD: [], MADE: [], MADE_LATE: 0, STEPPED: 0}
        self._steps: Counter[int] = Counter()
        self._kind: str = case.spec["optimizer"]
        self._called = self._looking = False
        if isinstance(self.model, _Deep):
            self.model.look = self._look
        windows = self._spec.get("windows", 2)
        window = self._spec["window"]
        rows = [3] * (window * (windows + 1) + 1)
        micro = batches_of(Case(case.name, {**case.spec, "rows": rows}))
        self._windows = [micro[window * number :][:window] for number in range(windows + 1)]
        self._rest = micro[-1]
        trained = {name: param for name, param in self._named.items() if param.requires_grad}
        found = torch.autograd.grad(self._loss(self._rest), list(trained.values()), allow_unused=True)
        self._used = {name for name, grad in zip(trained, found, strict=True) if grad is not None}

    def make_optimizer(self, params: Any) -> torch.optim.Optimizer:
        held = params if isinstance(params, torch.Tensor) else list(params)  # PyTorch refuses a tensor
        optimizer = OPTIMIZERS[self._kind](held, 0.05)
        self._facts[MADE].append(len(held))
        self._facts[MADE_LATE] += self._called
        optimizer.register_step_pre_hook(lambda one, args, kwargs: self._count(one))
        return optimizer

    def _count(self, optimizer: torch.optim.Optimizer) -> None:
        """A step is about to move those parameters that have a gradient."""
        self._steps.update(id(p) for group in optimizer.param_groups for p in group["params"] if p.grad is not None)

    def __call__(self, attempt: Any) -> object:
        handle = attempt(self.model, self.make_optimizer, self._spec["window"])
        if handle is ...:
            return ...
        self._called = True
        for number, window in enumerate(self._windows[:-1], 1):
            self._run(window, f"{UPDATE} {number}", number)
        self._remove(handle)
        if "then" in self._spec and self._facts[HANDLE] == A_HANDLE:
            self._called, self._kind = False, self._spec["then"]
            other = attempt(self.model, self.make_optimizer, self._spec["window"])  # kept: its hooks may hang on it
            self._called = other is not ...
            self._run(self._windows[-1], AGAIN, len(self._windows))
        return None

    def _run(self, window: Sequence[Batch], update: str, number: int) -> None:
        before = parameters_after(self.model)
        now = before
        self._steps.clear()
        for place, batch in enumerate(window, 1):
            self._forward_in_between(batch[0], place)
            self._looking = place == len(window)
            self._backward(batch)
            self._looking = False
            after = parameters_after(self.model)
            if place < len(window) and any(not torch.equal(after[name], now[name]) for name in now):
                self._facts[MOVED].append(f"number {place} of window {number}")
            now = after
        self._facts[STEPPED] = max(self._facts[STEPPED], *self._steps.values(), 0)
        if number == 1:
            self._facts[UNMOVED] = _listed(
                name
                for name, param in self._named.items()
                if name in self._used and torch.equal(param.detach(), before[name])
            )
        self._facts[update] = {name: now[name] - before[name] for name in now}
        self._facts[f"{LEFT} {number}"] = _listed(
            f"{ZEROS if not bool(param.grad.any()) else GRADIENT} in {name}"
            for name, param in self._named.items()
            if param.grad is not None
        )

    def _forward_in_between(self, x: torch.Tensor, place: int) -> None:
        if self._spec.get("validates"):
            with torch.set_grad_enabled(place > 1):  # one that records is thrown away, too
                self.model(x)

    def _loss(self, batch: Batch) -> torch.Tensor:
        x, y = batch
        return mean_square_error(self.model(x), y) / self._spec["window"]

    def _backward(self, batch: Batch) -> None:
        self._loss(batch).backward()  # type: ignore[no-untyped-call]

    def _look(self, passed: Mapping[str, nn.Parameter]) -> None:
        if self._looking:
            self._facts[HELD] += [name for name, param in passed.items() if param.grad is not None]

    def _remove(self, handle: object) -> None:
        remove = getattr(handle, "remove", None)
        # A list has a method of that name, too, which takes what is to be removed.
        known = callable(remove) and not isinstance(remove, BuiltinMethodType)
        self._facts[HANDLE] = A_HANDLE if known else NO_HANDLE
        if not known:
            return
        remove()  # type: ignore[misc]
        for param in self._named.values():
            param.grad = None  # what an attempt has left there is a fault of its own
        before = parameters_after(self.model)
        for _ in range(self._spec["window"]):
            self._backward(self._rest)
        after = parameters_after(self.model)
        self._facts[MOVED_AFTER] = _listed(name for name in after if not torch.equal(after[name], before[name]))
        self._facts[GRAD_AFTER] = gradients_held(self.model)
        for param in self._named.values():
            param.grad = None

    def facts(self) -> Mapping[str, object]:
        return {**self._facts, MOVED: _listed(self._facts[MOVED]), HELD: sorted(set(self._facts[HELD]))}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or NONE


def _cases(seed: int) -> list[Case]:
    def row(name: str, model: str, optimizer: str, window: int, **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"model": model, "optimizer": optimizer, "window": window, **rest}

    return cases(
        seed,
        [
            row("SGD, windows of two micro-batches", "linear", "SGD", 2),
            row("SGD, windows of one micro-batch", "mlp", "SGD", 1),
            row("weight decay, and a frozen weight", "frozen", "decay", 2),
            row("AdamW, a bias and a layer without use", "partly used", "AdamW", 2),
            row("three layers, momentum, windows of three", "deep", "momentum", 3),
            row("one weight tied to two places, momentum", "tied", "momentum", 2),
            row("a parameter of the model's own, and two equal biases", "scaled", "Adam", 3),
            row("forward passes without a backward in between", "mlp", "momentum", 2, windows=3, validates=True),
            row("called again after remove(), with another optimizer", "mlp", "momentum", 2, then="Adam"),
            row("float32, three layers, AdamW, windows of two", "deep", "AdamW", 2, dtype="float32"),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    training = _Training(case)
    return Arrangement(
        (training.model, training.make_optimizer, case.spec["window"]),
        watch={"model": training.model},
        call=training,
        facts=lambda _: training.facts(),
    )


EXERCISE = Exercise(
    id="6.8",
    name="fuse_optimizer_into_backward",
    title="An optimizer inside of backward",
    difficulty=3,
    minutes=20,
    goal=(
        "Write `fuse_optimizer_into_backward(model, make_optimizer, window)`. After it a training loop needs neither "
        "`step()` nor `zero_grad()`: it runs `(loss_fn(model(x), y) / window).backward()` for one micro-batch after the "
        "other, and every `window` of them are one step.\n\n"
        "- `make_optimizer(params)` takes a list of parameters and returns a new optimizer that holds them, of the same "
        "kind each time. How many you make is up to you.\n"
        "- The last backward of each window does the step; no other backward moves a parameter. `window` may be 1.\n"
        "- When that backward returns, every parameter is where ordinary accumulation, with one `step()` per window of one optimizer "
        "for all of them, would have put it. Every `.grad` is `None`.\n"
        "- A parameter that is frozen, or that the loss does not use, never moves. A weight that two layers share is one "
        "parameter.\n"
        "- Between two micro-batches the model may run forward without a backward, as for validation.\n"
        "- Return a handle: an object with a method `remove()`, which is called once, between two windows. From then on a "
        "backward only adds to `.grad`, as if you had never been called, and your function may be called again.\n\n"
        "You may rely on this: every parameter that the loss uses and that is not frozen gets a gradient in every "
        "micro-batch. When you are called every `.grad` is `None`, and afterwards nobody but backward and your code writes "
        "to it."
    ),
    cases=_cases,
    arrange=_arrange,
    rules=(
        "In the last backward of a window gradients are freed as it goes: when backward comes to a layer, no parameter "
        "of a layer that it has left behind has anything in its `.grad`. Only `.grad` is looked at.",
    ),
    hints=(
        "Which kind of hook runs after a gradient has been added to .grad, while backward is still on its way to the "
        "next layer?",
        "A step of an optimizer moves all that it holds. In the middle of backward one parameter is complete and the "
        "next is not. So how many parameters should an optimizer hold?",
        "Give every trainable parameter an optimizer of its own, a count of its own, and one "
        "register_post_accumulate_grad_hook. The hook counts, and on every window-th call it steps and clears. What "
        "registering returns can be taken away again; keep all of it for remove().",
    ),
    may_change=frozenset({"grad", "parameters"}),
    properties=(
        ("a window is one micro-batch", lambda spec: spec["window"] == 1),
        ("a window is several micro-batches", lambda spec: spec["window"] > 1),
        ("a weight is frozen", lambda spec: spec["model"] == "frozen"),
        ("the loss does not use every parameter", lambda spec: spec["model"] == "partly used"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("the model has a parameter of its own", lambda spec: spec["model"] == "scaled"),
        ("the model runs forward without a backward in between", lambda spec: bool(spec.get("validates"))),
        ("the function is called again after remove()", lambda spec: bool(spec.get("then"))),
        ("the optimizer is plain SGD", lambda spec: spec["optimizer"] == "SGD"),
        ("the optimizer has a history", lambda spec: spec["optimizer"] in ("momentum", "Adam", "AdamW")),
        ("the optimizer has weight decay", lambda spec: spec["optimizer"] in ("decay", "AdamW")),
        ("the model has more than one layer", lambda spec: spec["model"] != "linear"),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        UNMOVED: "In the first window these did not move: {given}.",
        STEPPED: "Most steps that one parameter took in one window: {given}. It should be {right}.",
    },
    quantities={
        "window": lambda spec: spec["window"],
    },
)
