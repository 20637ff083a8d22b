"""Exercise 7.3: a window of micro-batches in mixed precision; a case has several windows, a call each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.inputs import LOSSES, cases, model_and_batch
from course_utils.lessons.lesson7.underflow_fraction.task import HALVES
from course_utils.lessons.training import Batch, batches_of, optimizer_of

UPDATE = "the update"
AUTOCAST = "the forwards ran under"
STEPS = "calls of optimizer.step()"
RATES = "the learning rate afterwards"
SCALER = "the scaler afterwards"
LEFT = ".grad afterwards"

CLEARED, FILLED, NOT_FINITE = "None or zeros", "numbers", "numbers that are not finite"
Spec = Mapping[str, Any]


class _Listening(nn.Module):
    """A model that notes, at each forward, what autocast is set to."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body
        self.training = body.training
        self.heard: list[str] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kind = x.device.type
        on = torch.is_autocast_enabled(kind)
        self.heard.append(str(torch.get_autocast_dtype(kind)).removeprefix("torch.") if on else "no autocast")
        return self.body(x)


class _Windows:
    """Calls the attempt once a window, with the same objects, and writes down what each call leaves."""

    def __init__(self, case: Case) -> None:
        spec = case.spec
        body, _, _ = model_and_batch(case)
        self.model = _Listening(body)
        self._body = body
        self._optimizer = optimizer_of(case, body)
        self._scaler = torch.amp.GradScaler(
            spec.get("device", "cpu"),
            init_scale=spec.get("scale", 1024.0),
            backoff_factor=spec.get("backoff", 0.5),
            growth_interval=spec.get("interval", 100),
            enabled=not spec.get("disabled"),
        )
        self._extra: dict[str, Any] = {}
        if spec.get("scheduler"):
            self._extra["scheduler"] = torch.optim.lr_scheduler.StepLR(self._optimizer, 1, gamma=0.5)
        if "to" in spec:
            self._extra["dtype"] = HALVES[spec["to"]]
        self._max_norm = spec["max_norm"]
        self.windows = _windows_of(case)
        self._loss_fn = LOSSES[spec["loss"]]
        self._before = {name: p.detach().clone() for name, p in body.named_parameters()}
        self._steps = 0
        self._optimizer.register_step_post_hook(self._count)
        self._facts: dict[str, dict[str, str]] = {name: {} for name in (AUTOCAST, STEPS, SCALER, RATES, LEFT)}

    def _count(self, *_: Any) -> None:
        self._steps += 1

    def __call__(self, attempt: Any) -> object:
        told = []
        for number, window in enumerate(self.windows, 1):
            self._steps, self.model.heard = 0, []
            result = attempt(
                self.model,
                self._optimizer,
                self._scaler,
                self._loss_fn,
                window,
                self._max_norm,
                **self._extra,
            )
            if result is ...:
                return ...
            told.append(result)
            self._note(f"window {number}")
        return told

    def _note(self, window: str) -> None:
        state = self._scaler.state_dict()
        rates = [group["lr"] for group in self._optimizer.param_groups]
        self._facts[AUTOCAST][window] = " and ".join(sorted(set(self.model.heard))) or "nothing: there was none"
        self._facts[STEPS][window] = str(self._steps)
        self._facts[SCALER][window] = (
            f"scale {state['scale']:g}, {state['_growth_tracker']} good steps in a row" if state else "disabled"
        )
        self._facts[RATES][window] = " and ".join(f"{rate:g}" for rate in rates)
        self._facts[LEFT][window] = _left(self._body)

    def facts(self) -> dict[str, object]:
        moved = {name: p.detach() - self._before[name] for name, p in self._body.named_parameters()}
        return {**self._facts, UPDATE: moved}


def _left(model: nn.Module) -> str:
    held = [p.grad for p in model.parameters() if p.grad is not None]
    if not all(bool(gradient.isfinite().all()) for gradient in held):
        return NOT_FINITE
    return FILLED if any(bool(gradient.any()) for gradient in held) else CLEARED


def _windows_of(case: Case) -> list[list[Batch]]:
    """The windows, of `n` rows a micro-batch; in the micro-batches of `broken` one input is not finite."""
    spec = case.spec
    drawn = batches_of(Case(case.name, {**spec, "rows": [spec["n"]] * sum(spec["windows"])}))
    # Far from what the model says, so that no gradient is a small difference of large ones, which halves would blur.
    drawn = [(x + 0.5, 2 * y + 4) for x, y in drawn]
    for at in spec.get("broken", ()):
        drawn[at][0][0, 0] = math.nan
    pieces = iter(drawn)
    return [[next(pieces) for _ in range(count)] for count in spec["windows"]]


def _cases(seed: int) -> list[Case]:
    def row(name: str, windows: list[int], max_norm: float, **rest: Any) -> tuple[str, dict[str, Any]]:
        spec = {"model": "mlp", "optimizer": "SGD", "lr": 0.1, "loss": "squared error", "n": 2}
        return name, {**spec, "windows": windows, "max_norm": max_norm, **rest}

    half = {"dtype": "float32"}
    return cases(
        seed,
        [
            row("one micro-batch, a gradient shorter than max_norm", [1], 1000.0, model="linear"),
            row("four micro-batches", [4], 1000.0),
            row("a gradient longer than max_norm, two windows", [3, 2], 0.5),
            row("float32 under float16", [2], 0.5, **half),
            row(".grad holds earlier gradients", [2, 3], 1000.0, earlier="all", optimizer="momentum", stepped=2),
            row("the scale is too large for the first window", [2, 2], 0.5, scale=2.0**26, backoff=2.0**-16, **half),
            row(
                "a NaN in the first micro-batch of the second window, Adam, a scheduler",
                [2, 3, 1],
                0.5,
                broken=[2],
                optimizer="Adam",
                stepped=1,
                scheduler=True,
            ),
            row("the scale grows after every second window", [1] * 4, 1000.0, interval=2, scheduler=True),
            row(
                "a scaler that is not enabled, bfloat16, a scheduler",
                [2, 2],
                0.5,
                disabled=True,
                earlier="some",
                to="bfloat16",
                scheduler=True,
                **half,
            ),
            row(
                "earlier gradients that are not finite, an unused layer",
                [2, 2],
                0.5,
                model="unused",
                earlier="not finite",
            ),
            # A large scale would make what the frozen weight holds too small to be seen.
            row("a frozen weight holds a gradient", [2, 2], 0.5, model="frozen", frozen_holds=True, scale=2.0),
            row(
                "one weight tied to two places, weight decay, another loss",
                [3, 2],
                0.5,
                model="tied",
                optimizer="decay",
                loss="poisson",
            ),
            row("dropout and batch norm in eval mode", [2, 2], 0.5, model="part eval", optimizer="groups"),
        ],
    )


def _arrange(case: Case) -> Arrangement:
    windows = _Windows(case)
    return Arrangement(
        (windows.model,),
        watch={"model": windows.model, "micro_batches": windows.windows},
        call=windows,
        facts=lambda _: windows.facts(),
    )


EXERCISE = Exercise(
    id="7.3",
    name="amp_accumulation_step",
    title="One window in mixed precision",
    difficulty=4,
    minutes=25,
    goal=(
        "Write `amp_accumulation_step(model, optimizer, scaler, loss_fn, micro_batches, max_norm, scheduler=None, "
        "dtype=torch.float16)`: one training step on a window of micro-batches, in mixed precision. `micro_batches` is "
        "a list of one pair `(x, y)` or more, all with the same number of rows, and `loss_fn(prediction, target)` is a "
        "mean over rows. `scaler` is a `torch.amp.GradScaler`; it may have been made with `enabled=False`, which skips "
        "nothing.\n\n"
        "- Each forward of `model` runs under `torch.autocast` to `dtype`, for the type of device that `x` is on. "
        "`loss_fn` may be called inside or outside, and takes what `model` returns there.\n"
        "- The gradient is that of the mean loss over all rows of the window, unscaled, and clipped to `max_norm` by its "
        "2-norm. Whether you divide the losses, or the gradient after unscaling, by the number of micro-batches never "
        "decides here whether it is finite. The optimizer holds exactly the model's parameters.\n"
        "- The optimizer takes one step with it; where the gradient is not finite the step is skipped, as `scaler.step` "
        "does it. The scaler is updated once.\n"
        "- If there is a `scheduler`, its `step()` is called once, after an optimizer step; after a skipped one it is "
        "not.\n"
        "- At the end `.grad` of every parameter is None or zeros, after a skipped step, too.\n\n"
        "When the function is called, `.grad` may hold anything, on a frozen or unused parameter too, infinities and "
        "NaN included. It plays no part, and a frozen parameter does not move.\n\n"
        "Return a dict:\n\n"
        '- `"loss"`, the mean loss over all rows of the window before the step, unscaled, a Python float;\n'
        '- `"grad_norm"`, the total norm of the unscaled gradient **before** clipping, a float or a 0-d tensor, and where '
        "the gradient is not finite any infinity or NaN;\n"
        '- `"skipped"`, whether the scaler skipped the step, `True` or `False`.\n\n'
        "The function is called for one window after another, with the same model, optimizer, scaler and scheduler. Modes "
        "stay as they were; dropout and batch norm, where a model has them, are in eval mode. With a scaler that is not "
        "enabled every gradient is finite. A float64 model stays float64 under autocast."
    ),
    cases=_cases,
    arrange=_arrange,
    may_change=frozenset({"grad", "parameters"}),
    loop=True,
    hints=(
        "Write the order down first: clear, then for each micro-batch forward and backward, then five things that are "
        "done once a window. Which of them need the gradient at its real size?",
        "clip_grad_norm_ compares what stands in .grad with max_norm. Who divides .grad by the scale before that, and "
        "how often may it be asked to?",
        "The scaler does not say whether it skipped. But update() makes the scale smaller after a skipped step, and only "
        "then: compare the scale before and after. A scale that grew is no sign of a skipped step.",
        "Scale each loss, divided by the number of micro-batches, and go backward. Then unscale_ once, clip, "
        "scaler.step, scaler.update, clear; and the scheduler where the scale is not smaller than before.",
    ),
    properties=(
        ("a step is to be skipped", lambda spec: "broken" in spec or spec.get("scale", 0) > 2**20),
        ("no step is to be skipped", lambda spec: "broken" not in spec and spec.get("scale", 0) <= 2**20),
        ("the scaler is not enabled", lambda spec: bool(spec.get("disabled"))),
        ("the scale grows", lambda spec: "interval" in spec),
        ("the dtype is bfloat16", lambda spec: spec.get("to") == "bfloat16"),
        ("the model is float32", lambda spec: spec.get("dtype") == "float32"),
        ("there is a scheduler", lambda spec: bool(spec.get("scheduler"))),
        (".grad holds something that is not finite", lambda spec: spec.get("earlier") == "not finite"),
        (".grad holds something at the first call", lambda spec: "earlier" in spec or "frozen_holds" in spec),
        ("the gradient is longer than max_norm", lambda spec: spec["max_norm"] < 100),
        ("max_norm is larger than the norm of the gradient", lambda spec: spec["max_norm"] > 100),
        ("every window is one micro-batch", lambda spec: set(spec["windows"]) == {1}),
        ("there is more than one micro-batch in a window", lambda spec: max(spec["windows"]) > 1),
        ("there is one window", lambda spec: len(spec["windows"]) == 1),
        ("there are several windows", lambda spec: len(spec["windows"]) > 1),
        ("the model has a layer that it does not use", lambda spec: spec["model"] == "unused"),
        ("a parameter is frozen", lambda spec: spec["model"] == "frozen"),
    ),
    quantities={
        "the scale": lambda spec: spec.get("scale", 1024.0),
        "the number of micro-batches": lambda spec: spec["windows"][0] if len(set(spec["windows"])) == 1 else None,
        "the number of rows of a micro-batch": lambda spec: spec["n"],
        "max_norm": lambda spec: spec["max_norm"],
    },
)
