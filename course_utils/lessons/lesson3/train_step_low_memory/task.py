"""Exercise 3.5: a training step without gradients in memory while the model runs forward."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, Draw, cases, model_and_batch
from course_utils.lessons.lesson3.inputs import bytes_held, hold
from course_utils.lessons.training import optimizer_of, parameters_after, remembered_by
from course_utils.lessons.watched_loss import ORDER, WatchedLoss

UPDATE = "the update of the parameters"
"""Parameters after the call minus before it: in it a factor shows, which in the parameters it would not."""
STATE = "what the optimizer remembers after the call"
FORWARDS = "forward passes of the model in each call"
ALIVE = "bytes of gradients alive at each forward pass of each call"
ZEROS = "whether all gradients alive at each forward pass of each call are zeros"
SHAPES = "shapes loss_fn was called with"


class _Watch:
    """What stands in `.grad` of the parameters of a model each time that it runs forward, however it is called."""

    def __init__(self, model: nn.Module) -> None:
        self._params = list(model.parameters())
        self.alive: list[list[int]] = []
        self.zeros: list[list[bool]] = []
        watch, kind = self, type(model)

        class Watched(kind):  # type: ignore[misc, valid-type]
            def forward(self, *args: Any, **kwargs: Any) -> Any:
                watch.look()
                return super().forward(*args, **kwargs)

        Watched.__name__ = kind.__name__
        model.__class__ = Watched

    def next_call(self) -> None:
        """What follows belongs to a call of its own."""
        self.alive.append([])
        self.zeros.append([])

    def look(self) -> None:
        if self.alive:
            held = [param.grad for param in self._params if param.grad is not None]
            self.alive[-1].append(bytes_held(self._params))
            self.zeros[-1].append(not any(bool(grad.any()) for grad in held))


class _Centred(nn.Module):
    """As batch norm does, it works with the rows of the batch in train mode, and with a number of its own in eval
    mode. It keeps no running statistics, which code that is a function of the parameters could not update."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - (x.mean(0) if self.training else 0.25)


def _build(case: Case) -> tuple[nn.Module, torch.optim.Optimizer, torch.Tensor, torch.Tensor]:
    spec = case.spec
    model, x, y = model_and_batch(case)
    if spec.get("centred"):
        assert isinstance(model, nn.Sequential)
        model.insert(1, _Centred())
    optimizer, draw = optimizer_of(case, model), Draw(case)
    if spec.get("earlier") == "zeros":
        # One holds more: zeros that the attempt made are told from those that it found.
        for place, param in enumerate(model.parameters()):
            hold(draw, param, "zeros" if place else "gradient")
    y = spec.get("scale", 1.0) * y  # far from what the model says, the gradient is long
    if spec["loss"] == "poisson":
        y = y.abs()  # counts
    return model, optimizer, x, y


def _cases(seed: int) -> list[Case]:
    def row(name: str, model: str, optimizer: str, **rest: Any) -> tuple[str, dict[str, Any]]:
        return name, {"model": model, "optimizer": optimizer, "loss": "squared error", **rest}

    history = {"stepped": 2}
    return cases(
        seed,
        [
            row("one step of SGD, .grad None before", "linear", "SGD"),
            row("one step, .grad holds earlier gradients", "mlp", "SGD", earlier="all"),
            row("three steps in a row, a loss that is no squared error", "mlp", "SGD", calls=3, loss="poisson"),
            row(".grad holds infinite and NaN gradients", "mlp", "SGD", earlier="not finite"),
            row(
                "momentum with a history, three steps, some hold gradients",
                "mlp",
                "momentum",
                **history,
                calls=3,
                earlier="some",
            ),
            row("Adam, .grad holds zeros, but for one parameter", "mlp", "Adam", earlier="zeros"),
            row("weight decay, and a layer without use that holds gradients", "unused", "decay", earlier="all"),
            row("momentum with a history, and a layer without use", "unused", "momentum", **history, earlier="some"),
            row("a frozen weight that holds a gradient", "frozen", "decay", earlier="all", frozen_holds=True),
            row(
                "a parameter of the model's own, parts inside of parts, and targets far away",
                "scaled",
                "momentum",
                earlier="all",
                scale=100.0,
            ),
            row("one weight tied to two places, two steps", "tied", "AdamW", calls=2, earlier="all"),
            row("batch norm and dropout in eval mode", "eval", "SGD", earlier="all"),
            row(
                "a layer that needs the whole batch in train mode, two steps",
                "mlp",
                "SGD",
                centred=True,
                calls=2,
                earlier="some",
            ),
            row("a batch of one row", "mlp", "SGD", n=1, earlier="all"),
            row(
                "float32, Adam with a history, three steps",
                "mlp",
                "Adam",
                **history,
                calls=3,
                earlier="all",
                dtype="float32",
            ),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    model, optimizer, x, y = _build(case)
    targets, calls = y.clone(), case.spec.get("calls", 1)
    loss_fn = WatchedLoss(
        LOSSES[case.spec["loss"]], lambda one: one.shape == targets.shape and torch.equal(one.detach(), targets)
    )
    before, watch = parameters_after(model), _Watch(model)

    def call(attempt: Any) -> object:
        losses: list[object] = []
        for _ in range(calls):
            watch.next_call()
            losses.append(attempt(model, optimizer, loss_fn, x, y))
            if losses[-1] is ...:
                return ...
        return losses if calls > 1 else losses[0]

    def facts(_: object) -> dict[str, object]:
        return {
            UPDATE: {name: after - before[name] for name, after in parameters_after(model).items()},
            STATE: remembered_by(optimizer, model),
            FORWARDS: [len(one) for one in watch.alive],
            ALIVE: watch.alive,
            ZEROS: watch.zeros,
            **loss_fn.facts(SHAPES, most=8),
        }

    return Arrangement(
        (model, optimizer, loss_fn, x, y), watch={"model": model, "x": x, "y": y}, call=call, facts=facts
    )


def _calls(spec: Any) -> int:
    number: int = spec.get("calls", 1)
    return number


EXERCISE = Exercise(
    id="3.5",
    name="train_step_low_memory",
    title="A step without gradients in the forward pass",
    difficulty=2,
    minutes=10,
    goal=(
        "Write `train_step_low_memory(model, optimizer, loss_fn, x, y)`: one step of the optimizer with the gradient "
        "of `loss_fn(model(x), y)`, a 0-d mean over the batch, and of nothing else. It returns the loss before the "
        "step, as a float. The optimizer holds exactly the parameters of the model, not all of them frozen; it needs no "
        "closure, and may have a history. At the call every `.grad` may hold anything, infinite and NaN included, also that of a "
        "frozen parameter or of one that the loss does not use; none of it plays a part. A parameter that gets no "
        "gradient from this batch is not moved, weight decay and momentum or not. Run the batch through the model as "
        "a whole: a layer such as batch norm works on all of its rows together. Further forward passes, a "
        "checkpoint's included, are allowed under the same rule. As it comes the model draws no random numbers, and how "
        "often running statistics are updated does not matter. The mode of the model stays as it was; what `.grad` holds afterwards does not matter."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    loop=True,
    rules=(
        "Whenever the model runs forward in the call, no `.grad` of its parameters holds a tensor, one of zeros "
        "included. Only `.grad` is looked at, and only where the model as a whole runs.",
    ),
    hints=(
        "A tensor of zeros has as many bytes as any other of its size. Which of the ways to clear gives the memory back?",
        "Between the step of the last call and the backward of this one there are several places where clearing gives "
        "the same numbers. Which of them are early enough for the memory, and which one serves the first call, too?",
        "The usual five lines, in one of their orders. The loss belongs to the caller as a number: what turns a 0-d "
        "tensor into a float?",
    ),
    properties=(
        (".grad is None before", lambda spec: "earlier" not in spec),
        (".grad holds infinite and NaN gradients", lambda spec: spec.get("earlier") == "not finite"),
        ("every .grad but one holds zeros", lambda spec: spec.get("earlier") == "zeros"),
        ("a .grad holds something from before", lambda spec: "earlier" in spec),
        ("there are several calls in a row", lambda spec: _calls(spec) > 1),
        ("there is one call", lambda spec: _calls(spec) == 1),
        ("the loss does not use every parameter", lambda spec: spec["model"] == "unused"),
        ("a frozen parameter holds a gradient", lambda spec: bool(spec.get("frozen_holds"))),
        ("the model has a parameter of its own, and the gradient is long", lambda spec: spec["model"] == "scaled"),
        ("a weight is tied to two places", lambda spec: spec["model"] == "tied"),
        ("the model has batch norm, in eval mode", lambda spec: spec["model"] == "eval"),
        ("a layer works on the rows of the batch together, as batch norm does", lambda spec: bool(spec.get("centred"))),
        ("the batch has one row", lambda spec: spec.get("n", 6) == 1),
        ("the loss is no squared error", lambda spec: spec["loss"] != "squared error"),
        ("the optimizer has a history", lambda spec: "stepped" in spec),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
    ),
    telling={
        ORDER: "loss_fn was called with its arguments in the order {given}.",
        SHAPES: "loss_fn was called with prediction and target of shapes {given}; asked for are {right}.",
    },
    quantities={
        "the number of rows": lambda spec: spec.get("n", 6),
        "the number of calls": _calls,
    },
)
