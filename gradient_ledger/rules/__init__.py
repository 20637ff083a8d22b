"""From events to findings. Every rule is a function of the log alone; this module runs them and settles disputes.

One cause gives one finding: a rule whose finding is only the shadow of another is silenced (`SHADOWS`). And numbers
go before events: where a reference shows that every step used the right gradient, nothing about the gradient's
value is an error, however odd the way there looked.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator

from gradient_ledger.events import Finding, Log
from gradient_ledger.rules import loud, numbers, order, ownership, precision, window
from gradient_ledger.rules.view import View

__all__ = ["RULES", "findings"]

Rule = Callable[[View], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    order.stale,
    order.lost,
    order.used_again,
    window.sizes,
    window.losses,
    window.hooks,
    window.schedulers,
    window.means,
    precision.clipping,
    precision.edits,
    precision.mixed_precision,
    precision.autocast,
    precision.state,
    ownership.crossed,
    ownership.input_gradients,
    ownership.never,
    ownership.idle,
    ownership.distributed,
    numbers.against_reference,
    loud.exceptions,
)

NOT_THE_GRADIENT = frozenset(
    {
        "scheduler-every-micro-batch",
        "scheduler-after-skipped-step",
        "forward-outside-no-sync",
        "summed-loss-keeps-graphs",
        "gradients-nobody-uses",
        "scaler-not-updated",
        "half-precision-parameters",
        "step-between-forward-and-backward",
    }
)
"""Findings that stand even where every gradient was right."""

_BY_NUMBERS = (
    "gradient-off-by-factor",
    "gradient-direction-wrong",
    "mean-of-means",
    "loss-not-divided",
    "divided-twice",
    "rank-means-averaged",
    "tail-divided-by-full-window",
)

SHADOWS: dict[str, tuple[str, ...]] = {
    "never-zeroed": ("window-misaligned", "tail-leaks-into-next-epoch", "tail-dropped", "stepped-on-used-gradients"),
    "zeroed-once-per-epoch": (
        "window-misaligned",
        "tail-leaks-into-next-epoch",
        "tail-dropped",
        "stepped-on-used-gradients",
    ),
    "zeroed-before-step": (
        "graph-cut",
        "zeros-move-unused-parameters",
        "window-misaligned",
        "tail-dropped",
        "zeroed-inside-window",
    ),
    "zeroed-inside-window": ("tail-dropped", "window-misaligned", "step-every-micro-batch"),
    "layer-replaced-after-optimizer": (
        "gradients-nobody-uses",
        "graph-cut",
        "clipped-more-than-zeroed",
        "never-zeroed",
        "zeroed-another-object",
    ),
    "unscaled-every-micro-batch": ("clipped-every-micro-batch", "clipped-before-unscale"),
    "clipped-every-micro-batch": ("divided-every-micro-batch",),
    "aliased-gradients": ("zeroed-before-step", "zeroed-inside-window", "never-zeroed", "stepped-on-used-gradients"),
    "running-loss-backward": ("loss-backward-twice",),
    "input-gradient-pollutes-parameters": ("window-misaligned",),
    "parameter-in-two-optimizers": ("stepped-on-used-gradients",),
    "frozen-with-stale-gradient": ("stepped-on-used-gradients", "never-zeroed"),
    "tail-leaks-into-next-epoch": ("tail-dropped",),
    "window-misaligned": ("tail-dropped",),
    "kept-gradients-of-skipped-step": ("window-misaligned",),
}
"""A cause, and the findings that are only its shadow."""


def findings(log: Log, trouble: Callable[[str], None] | None = None) -> list[Finding]:
    """The mistakes a log shows, one for each cause: errors first, then warnings, then notes.

    A rule that fails costs its own finding only, if `trouble` is there to be told its traceback.
    """
    view = View(log)
    found: list[Finding] = []
    for rule in RULES:
        try:
            found += rule(view)
        except Exception:
            if trouble is None:
                raise
            trouble(traceback.format_exc())
    found = _settled_by_numbers(view, found)
    present = {one.misconception for one in found if one.severity != "info"}
    shadows = {shadow for cause in present for shadow in SHADOWS.get(cause, ())}
    found = [one for one in found if one.misconception not in shadows]
    order_of = {"error": 0, "warning": 1, "info": 2}
    unique: dict[tuple[str, object], Finding] = {}
    for one in found:
        unique.setdefault((one.misconception, one.where), one)
    return sorted(unique.values(), key=lambda one: order_of[one.severity])


def _settled_by_numbers(view: View, found: list[Finding]) -> list[Finding]:
    checks = [w.get("reference") for w in view.all_windows if w.get("reference")]
    if not checks:
        return found
    if all(check["right"] for check in checks):
        return [one for one in found if one.misconception in NOT_THE_GRADIENT or one.severity == "info"]
    # Where events name the cause, the numbers are its evidence, not a second finding.
    named = [
        one for one in found if one.severity == "error" and one.misconception not in (*_BY_NUMBERS, *NOT_THE_GRADIENT)
    ]
    notes = [one for one in found if one.severity == "info" and one.misconception in _BY_NUMBERS]
    if named:
        return [one for one in found if one.misconception not in _BY_NUMBERS]
    return [one for one in found if one not in notes]
