"""Verdicts from numbers: each step's gradient against the reference the user gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradient_ledger.events import Comparison, Edit, Finding
from gradient_ledger.rules.view import View, Window, finding, steps_of, times

PARALLEL = 0.9999
"""Cosine from which two gradients differ by a factor alone."""


def against_reference(view: View) -> Iterator[Finding]:
    """What the steps used, compared with what they should have used."""
    for optimizer, windows in view.windows.items():
        checked = [w for w in windows if w.step.reference]
        wrong = [w for w in checked if not _seen(w).right]
        if not wrong:
            continue
        sizes = sorted(w.micro_batches for w in checked)
        usual = view.log.window or sizes[len(sizes) // 2]
        parallel = [w for w in wrong if _seen(w).cosine > PARALLEL]
        if len(parallel) == len(wrong):
            yield _factor(view, optimizer, wrong, checked, usual)
        else:
            yield _direction(view, optimizer, wrong, checked)


def _seen(window: Window) -> Comparison:
    """The comparison of a window that has one."""
    assert window.step.reference is not None
    return window.step.reference


def _near(value: float, target: float) -> bool:
    return abs(value / target - 1) < 0.02 if target else False


def _factor(view: View, optimizer: int, wrong: list[Window], checked: list[Window], usual: int) -> Finding:
    ratios = [_seen(w).ratio for w in wrong]
    k = max(w.micro_batches for w in wrong)
    said = (
        f"At {len(wrong)} of {times(len(checked), 'step')} the gradient is {ratios[0]:.4g} times the reference "
        "(cosine 1.000)"
    )
    evidence: dict[str, Any] = {
        "ratio": ratios[0],
        "ratios": ratios[:10],
        "cosine": _seen(wrong[0]).cosine,
        "steps": steps_of(wrong),
    }
    where = wrong[0].step.last_pass_at
    scale = wrong[0].step.scale
    tails = [w for w in wrong if w.micro_batches < usual]
    if len(tails) == len(wrong) and all(_near(r, w.micro_batches / usual) for r, w in zip(ratios, wrong, strict=True)):
        short = wrong[0].micro_batches
        return finding(
            "tail-divided-by-full-window",
            "error",
            where,
            f"{said}: these are the last windows, with {short} micro-batches divided by {usual}.",
            f"Divide by the number of micro-batches the window really has, here {short}.",
            **evidence,
        )
    if k > 1 and all(_near(r, w.micro_batches) for r, w in zip(ratios, wrong, strict=True)):
        return finding(
            "loss-not-divided",
            "error",
            where,
            f"{said}, which is the number of micro-batches: their losses were summed, not averaged.",
            f"Call (loss / {k}).backward().",
            **evidence,
        )
    if k > 1 and all(_near(r, 1 / w.micro_batches) for r, w in zip(ratios, wrong, strict=True)):
        edit = next((e for w in wrong for e in w.of(Edit) if e.status == "fresh"), None)
        return finding(
            "divided-twice",
            "error",
            edit.where if edit else where,
            f"{said}, one over the number of micro-batches: something divided by it twice.",
            **evidence,
        )
    if scale and all(_near(r, 1 / scale) for r in ratios):
        return finding(
            "loss-not-scaled",
            "error",
            where,
            f"{said}, one over the loss scale.",
            **evidence,
        )
    return finding(
        "gradient-off-by-factor",
        "error",
        where,
        f"{said}.",
        **evidence,
    )


def _direction(view: View, optimizer: int, wrong: list[Window], checked: list[Window]) -> Finding:
    worst = min(wrong, key=lambda w: float(_seen(w).cosine))
    numbers = _seen(worst)
    said = (
        f"At {len(wrong)} of {times(len(checked), 'step')} the gradient points elsewhere than the reference: cosine "
        f"{numbers.cosine:.4f}, {numbers.ratio:.3g} times its length at worst"
    )
    evidence = {key: getattr(numbers, key) for key in ("cosine", "ratio", "relative_error")} | {
        "steps": steps_of(wrong)
    }
    where = worst.step.last_pass_at
    weights = numbers.weights
    fits = bool(weights) and numbers.left_over < 1e-3
    if fits and min(weights) > 0:
        return finding(
            "mean-of-means",
            "error",
            where,
            f"{said}. The reference is the same micro-batches with the weights {_shares(weights)}: they are not equal, "
            "but were counted as if they were.",
            weights=weights,
            **evidence,
        )
    if int(view.log.distributed.get("world", 1)) > 1:
        return finding(
            "rank-means-averaged",
            "error",
            where,
            f"{said}. DDP averages the ranks' means, whatever each has counted.",
            **evidence,
        )
    return finding(
        "gradient-direction-wrong",
        "error",
        where,
        f"{said}.",
        **evidence,
    )


def _shares(weights: Sequence[float]) -> str:
    return ", ".join(f"{w:.3g}" for w in weights[:8])
