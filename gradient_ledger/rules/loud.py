"""Exceptions torch raises for gradient mistakes, and the mistakes behind them."""

from __future__ import annotations

from collections.abc import Iterator

from gradient_ledger.events import (
    Accumulate,
    Backward,
    Clear,
    Finding,
    Forward,
    Place,
    ScalerUpdate,
    SkippedStep,
    Step,
    Unscale,
)
from gradient_ledger.rules.view import BY_HAND, View, finding

KNOWN = (
    ("No inf checks were recorded for this optimizer", "zeroed-before-step"),
    ("step() has already been called since the last update()", "scaler-not-updated"),
    ("unscale_() is being called after step()", "scaler-not-updated"),
    ("unscale_() has already been called on this optimizer", "unscaled-every-micro-batch"),
    ("No inf checks were recorded prior to update", "unscaled-every-micro-batch"),
    ("Attempting to unscale FP16 gradients", "half-precision-parameters"),
    ("has been modified by an inplace operation", "step-between-forward-and-backward"),
    ("but _scale is None", "loss-not-scaled"),
    ("does not require grad and does not have a grad_fn", "graph-cut"),
    ("Trying to backward through the graph a second time", "loss-backward-twice"),
)


def exceptions(view: View) -> Iterator[Finding]:
    """Name the mistake behind the exception that ended the run, where torch's message tells it."""
    for message, name in KNOWN:
        if message not in view.log.error:
            continue
        where: Place | None = view.log.error_at
        said = view.log.error.split(". ")[0].split("\n")[0].rstrip(".")
        text = f"torch stopped the run here: {said}."
        remedy = ""
        if name == "step-between-forward-and-backward" and not view.of(Step):
            continue
        if name == "unscaled-every-micro-batch" and _stepped_since_update(view):
            name = "scaler-not-updated"
        elif name == "unscaled-every-micro-batch" and "prior to update" in message and not view.of(Unscale):
            name = "scaler-step-missing"
        elif name == "zeroed-before-step":
            cleared = [e for e in view.of(Clear) if e.lost]
            if not cleared:
                continue
            where = cleared[-1].where
            remedy = "Clear after scaler.step(), or before the window's first backward()."
        elif name == "loss-not-scaled":
            backward = view.of(Backward)
            where = backward[-1].where if backward else where
        elif name == "loss-backward-twice":
            name, where = _twice(view, where)
        yield finding(name, "error", where, text, remedy)
        return


def _twice(view: View, where: Place | None) -> tuple[str, Place | None]:
    """What went backward through a graph that an earlier pass had used up: the last iteration's, or another model's."""
    passes = view.of(Backward)
    last = passes[-1] if passes else None
    if last is None:
        return "loss-backward-twice", where
    earlier = [one for one in passes[:-1] if one.where == last.where]
    between = [e for e in view.of(Forward) if earlier and earlier[-1].number < e.number < last.number]
    before = passes[-2] if len(passes) > 1 else None
    if before is not None and before.where != last.where:
        reached = {name for e in view.of(Accumulate) if e.pass_number == before.pass_number for name in e.names}
        holders = [number for number, names in view.owned.items() if number != BY_HAND and names & reached]
        if len(holders) > 1:
            # The call whose input is to be cut off is the last one before that backward.
            calls = [e for e in view.of(Forward) if e.number < before.number]
            return "backward-reaches-another-model", calls[-1].where if calls else before.where
    if earlier and between:
        return "graph-carried-over", where
    return "loss-backward-twice", where


def _stepped_since_update(view: View) -> bool:
    """Whether the scaler has stepped, or skipped a step, after its last update."""
    stepped = False
    for event in view.events:
        if isinstance(event, ScalerUpdate):
            stepped = False
        elif isinstance(event, SkippedStep) or (isinstance(event, Step) and event.by_scaler):
            stepped = True
    return stepped
