"""Exceptions torch raises for gradient mistakes, and the mistakes behind them."""

from __future__ import annotations

from collections.abc import Iterator

from gradient_ledger.events import Finding
from gradient_ledger.rules.view import View, finding

KNOWN = (
    (
        "No inf checks were recorded for this optimizer",
        "zeroed-before-step",
        "Clear after scaler.step(), or before the window's first backward().",
    ),
    (
        "step() has already been called since the last update()",
        "scaler-not-updated",
        "Call scaler.update() once after every scaler.step(optimizer).",
    ),
    (
        "unscale_() is being called after step()",
        "scaler-not-updated",
        "Call scaler.update() once after every scaler.step(optimizer).",
    ),
    (
        "unscale_() has already been called on this optimizer",
        "unscaled-every-micro-batch",
        "Call scaler.unscale_(optimizer) once per window, after its last backward().",
    ),
    (
        "No inf checks were recorded prior to update",
        "unscaled-every-micro-batch",
        "Call scaler.update() only after scaler.step(optimizer), once per window.",
    ),
    (
        "Attempting to unscale FP16 gradients",
        "half-precision-parameters",
        "Keep the parameters in float32 and let autocast pick float16 per operation; do not call model.half().",
    ),
    (
        "has been modified by an inplace operation",
        "step-between-forward-and-backward",
        "Do every backward() of a forward before step(), or run the forward again after it.",
    ),
    (
        "Trying to backward through the graph a second time",
        "loss-backward-twice",
        "Call backward() once per forward, or keep only the number of a loss with .item().",
    ),
)


def exceptions(view: View) -> Iterator[Finding]:
    """Name the mistake behind the exception that ended the run, where torch's message tells it."""
    for message, name, remedy in KNOWN:
        if message in view.log.error:
            if name == "step-between-forward-and-backward" and not any(e.kind == "step" for e in view.events):
                continue
            if name == "unscaled-every-micro-batch" and _stepped_since_update(view):
                name, remedy = "scaler-not-updated", KNOWN[0][2]
            where = view.log.error_at
            if name == "zeroed-before-step":
                cleared = [e for e in view.events if e.kind == "clear" and e.details.get("lost")]
                if not cleared:
                    continue
                where = cleared[-1].where
            said = view.log.error.split(". ")[0].split("\n")[0].rstrip(".")
            yield finding(name, "error", where, f"torch stopped the run here: {said}.", remedy)
            return


def _stepped_since_update(view: View) -> bool:
    """Whether the scaler has stepped, or skipped a step, after its last update."""
    stepped = False
    for event in view.events:
        if event.kind == "scaler update":
            stepped = False
        elif event.kind == "skipped step" or event.details.get("by_scaler"):
            stepped = True
    return stepped
