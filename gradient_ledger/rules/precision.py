"""Loss scales, autocast, and numbers that half precision cannot hold."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradient_ledger.events import (
    Accumulate,
    Backward,
    Clear,
    Edit,
    Ending,
    Finding,
    Forward,
    ScalerUpdate,
    Unscale,
)
from gradient_ledger.rules.view import (
    BY_HAND,
    View,
    Window,
    accumulates_after,
    finding,
    some,
    steps_of,
    times,
    unrun_clear,
    vain_clear,
)

LEAST_LOOKS, LEAST_ENTRIES = 2, 32
"""Steps looked at, and entries with a gradient in each, before weights are said not to move."""
MOST, EACH = 1 / 2, 1 / 3
"""Shares of them that stand still, on average and in each step, for the steps to be rounded away."""
NEAR_HIGHEST = 0.9
"""A learning rate of at least this share of the highest one counts."""


def mixed_precision(view: View) -> Iterator[Finding]:
    """The loss scale: on the loss, off the gradient, once, in that order."""
    for optimizer, windows in view.windows.items():
        label = view.label(optimizer)
        raw = [
            w
            for w in windows
            if not w.step.by_scaler
            and not w.skipped
            and True in w.step.scaled
            and not any(e.optimizer == optimizer for e in w.of(Unscale))
            and not any(e.status == "fresh" for e in w.of(Edit))  # unscaled by hand
        ]
        if raw:
            yield finding(
                "stepped-scaled-gradients",
                "error",
                raw[0].step.where,
                f"{times(len(raw), 'step')} of {label} used gradients that still carry the loss scale.",
                steps=steps_of(raw),
            )
        put = [w for w in windows if w.step.assigned and w.of(Backward) and all(e.scaled for e in w.of(Backward))]
        if not raw and put and len(put) * 2 > len(windows) and _nobody_unscales(view):
            yield finding(
                "stepped-scaled-gradients",
                "warning",
                put[0].step.where,
                f"Each loss was scaled, and {times(len(put), 'step')} of {label} used what the program made of these "
                "gradients by hand. No scaler stepped or unscaled, and no line takes the scale off.",
                "Step through the scaler: scaler.step(optimizer), then scaler.update().",
                steps=steps_of(put),
            )
        bare = [
            w
            for w in windows
            if (w.step.by_scaler or w.skipped)
            and False in w.step.scaled
            and not any(e.gradient for e in w.of(Backward))  # the scale may have come in as the gradient
            # A scaled backward that ended elsewhere may have handed its scale on, as cached gradients do.
            and (True in w.step.scaled or not _ended_elsewhere(view, w))
        ]
        if bare:
            scale = bare[0].step.scale
            unscaled = [one.where for one in view.passes_of(bare[0]) if not one.scaled]
            by = f" by {scale:g}" if scale else ""
            yield finding(
                "loss-not-scaled",
                "error",
                unscaled[-1] if unscaled else bare[0].step.last_pass_at,
                f"This loss went backward without the scale, and the scaler then divided its gradient{by}: "
                f"{times(len(bare), 'window')}.",
                scale=scale,
                steps=steps_of(bare),
            )
        again: list[tuple[Window, Unscale]] = []
        for window in windows:
            for event in window.of(Unscale):
                if event.optimizer == optimizer and accumulates_after(window, event):
                    again.append((window, event))
        if again:
            repeated = any(sum(e.optimizer == optimizer for e in window.of(Unscale)) > 1 for window, _ in again)
            yield finding(
                "unscaled-every-micro-batch",
                "error",
                again[0][1].where,
                f"Unscaled in the middle of {times(len({id(w) for w, _ in again}), 'window')}: the micro-batches that "
                "follow are scaled, those before are not"
                + (", and early ones are divided several times." if repeated else "."),
                steps=steps_of([w for w, _ in again]),
            )
        kept = [w for w in windows if w.step.mixed.get("skipped")]
        if kept or _stuck(view, windows[-1]):
            taken = sum(not w.skipped for w in windows)
            clears = [e for e in view.of(Clear) if windows[-1].names & set(e.names)]
            vain = vain_clear(view)
            idle = vain.where if vain is not None else unrun_clear(view)
            yield finding(
                "kept-gradients-of-skipped-step",
                "error",
                clears[-1].where if clears else idle or (kept or windows)[-1].step.last_pass_at,
                "A step was left out because of inf or nan, its gradients were kept, and later backward passes added to "
                f"them: they stay infinite, and {taken} of {times(taken + sum(w.skipped for w in windows), 'step')} were taken"
                + ("." if kept else ", none after that."),
                taken=taken,
                windows=len(windows),
            )


def _nobody_unscales(view: View) -> bool:
    """Whether no step came through a scaler, none unscaled, and the text takes no scale to compute with."""
    by_scaler = any(w.step.by_scaler or w.skipped for w in view.all_windows)
    return not (by_scaler or view.of(Unscale) or view.log.reads_scale)


def idle_scaler(view: View) -> Iterator[Finding]:
    """A gradient scaler that is there for losses in float16, and is never used."""
    for optimizer, windows in view.windows.items() if view.log.idle_scaler else ():
        passes = [one for w in windows[:2] for one in view.passes_of(w)]
        if optimizer != BY_HAND and len(windows) > 1 and passes:
            yield finding(
                "loss-not-scaled",
                "warning",
                passes[0].where,
                f"Models run in float16 under autocast, and the gradient scaler that is there was never used, in "
                f"{times(len(windows), 'step')} of {view.label(optimizer)}: small gradients become zeros, and one that is not "
                "finite is stepped on.",
                "scaler.scale(loss).backward(), scaler.step(optimizer), scaler.update().",
                scaler_made_at=view.log.scaler_made_at,
            )


def scales(view: View) -> Iterator[Finding]:
    """The scale that a gradient carries and the one that is taken off it are two."""
    for optimizer, windows in view.windows.items():
        label = view.label(optimizer)
        taken_off = [w for w in windows if w.step.by_scaler and not w.skipped and w.step.scale != 1]
        partly = [(w, e) for w in taken_off for e in view.passes_of(w) if e.part_unscaled]
        if partly:
            window, event = partly[0]
            by = f" by {window.step.scale:g}" if window.step.scale else ""
            yield finding(
                "loss-not-scaled",
                "error",
                event.where,
                f"A part of this loss goes backward without the scale, beside what the scaler has scaled, and the scaler then "
                f"divided the gradient of both{by}: {times(len(partly), 'window')}.",
                "Add the parts up first, and scale their sum: scaler.scale(a + b).backward().",
                scale=window.step.scale,
                steps=steps_of([w for w, _ in partly]),
            )
        double = [(w, e) for w in taken_off for e in view.passes_of(w) if e.scaled_twice is not None]
        if double:
            window, event = double[0]
            scale = window.step.scale
            by = f" {scale:g} times" if scale else ""
            yield finding(
                "loss-scaled-twice",
                "error",
                event.scaled_twice,
                f"What goes through scaler.scale() here, or a part of it, had been scaled before: that part's gradient "
                f"carries the scale twice, it is divided by it once, and {label} stepped on it{by} too long.",
                scale=scale,
                steps=steps_of([w for w, _ in double]),
            )
        between = [w for w in taken_off if w.step.updated_at is not None and _scale_alone(w)]
        halved = [w for w in between if _unscaled_on_both_sides(w)]
        wrong = [w for w in between if w.step.rescaled is not None]
        shared = [w for w in between if _stepped_before(view, w)]
        if not (halved or wrong or shared):
            continue
        worst = (halved or wrong or shared)[0]
        where = worst.step.updated_at
        told = f"Between the backward passes and the step of {label} the scaler is updated here"
        factor, seen = worst.step.rescaled, times(len(halved or wrong or shared), "window")
        if halved:
            told += f", after it had unscaled these gradients: it forgets that, and divides them once more, in {seen}."
        elif factor is not None:
            part = "of its first passes " if _goes_on(worst) else ""
            told += (
                f", and its scale changed: what one scale had multiplied {part}was divided by another, and came out "
            )
            told += f"{factor:.4g} times too long" if factor > 1 else f"at {factor:.4g} of its right length"
            told += f", in {seen}."
        else:
            told += ", for another optimizer's step of the same passes: where that changes the scale, what the old one "
            told += f"has multiplied is divided by the new one. It was so in {seen}, and the scale stayed as it was."
        yield finding(
            "scaler-updated-between-steps",
            "error" if halved or wrong else "warning",
            where,
            told,
            factor=factor,
            steps=steps_of(halved or wrong or shared),
        )


def _scale_alone(window: Window) -> bool:
    """Whether all of a step's gradients came from scaled losses, and nobody else has had a hand in them."""
    step = window.step
    edited = any(e.status == "fresh" for e in window.of(Edit))
    return step.scaled == (True,) and not (edited or step.assigned or step.mixed.get("skipped"))


def _goes_on(window: Window) -> bool:
    """Whether some of the passes that a step uses came after the update."""
    updates = [e.number for e in window.of(ScalerUpdate) if e.where == window.step.updated_at]
    last = max((e.number for e in window.of(Backward) if e.pass_number in window.step.pass_numbers), default=-1)
    return bool(updates) and updates[0] < last


def _unscaled_on_both_sides(window: Window) -> bool:
    """Whether the same gradients were unscaled before an update and after it."""
    last = max((e.number for e in window.of(Accumulate) if window.names & set(e.names)), default=0)
    off = [e.number for e in window.of(Unscale) if e.optimizer == window.optimizer and e.number > last and e.names]
    return any(off and off[0] < e.number < off[-1] for e in window.of(ScalerUpdate))


def _stepped_before(view: View, window: Window) -> bool:
    """Whether another optimizer's step of the very same passes came before the update."""
    updates = [e.number for e in window.of(ScalerUpdate) if e.where == window.step.updated_at]
    mine = set(window.step.pass_numbers)
    return any(
        mine <= set(e.pass_numbers) and e.optimizer != window.optimizer and any(e.number < at for at in updates)
        for e in window.of(Ending)
    )


def _ended_elsewhere(view: View, window: Window) -> bool:
    """Whether a scaled backward in this window put no gradient on any optimizer's parameters."""
    scaled = {e.pass_number for e in window.of(Backward) if e.scaled}
    reached = {e.pass_number for e in window.of(Accumulate) for mine in view.owned.values() if mine & set(e.names)}
    return bool(scaled - reached)


def _stuck(view: View, last: Window) -> bool:
    """Whether the run ended on inf or nan that several backward passes had been added to, without a step."""
    left = max((len(trails) for name, trails in view.log.pending.items() if name in last.names), default=0)
    return not view.log.pending_finite and left > max(view.size(last.optimizer), 1)


def autocast(view: View) -> Iterator[Finding]:
    """One autocast block around several steps keeps old copies of the weights."""
    hits = []
    last: dict[int, Ending] = {}
    for event in view.events:
        if isinstance(event, Ending) and event.region is not None:
            last[event.region] = event
        elif isinstance(event, Forward) and event.region in last and event.grad:
            hits.append((last[event.region], event))
    if hits:
        step, forward = hits[0]
        stepped = f" ({step.where.short})" if step.where is not None and step.region_at is not None else ""
        yield finding(
            "stepped-inside-autocast",
            "error",
            step.region_at or step.where,
            f"One autocast block holds {times(len(hits), 'forward pass')} after a step{stepped}: it keeps the half-precision "
            "copies of the weights it made first, so these ran on weights from before the step.",
            stepped_at=step.where,
            forward_at=forward.where,
            forwards=len(hits),
        )


def low_sums(view: View) -> Iterator[Finding]:
    """Gradients of several passes that are summed in half precision."""
    for windows in view.windows.values():
        low = [w for w in windows if w.step.low_precision]
        if low:
            bits = {"bfloat16": 8, "float16": 11}[low[0].step.low_precision]
            cast = " Their weights are cast here." if view.log.cast_low_at is not None else ""
            yield finding(
                "low-precision-accumulation",
                "warning",
                view.log.cast_low_at or low[0].step.last_pass_at,
                f"{times(low[0].passes, 'backward pass')} per step are summed in {low[0].step.low_precision}, which "
                f"keeps {bits} bits: small gradients are rounded away as the sum grows.{cast}",
                dtype=low[0].step.low_precision,
                passes=low[0].passes,
            )


def nonfinite(view: View) -> Iterator[Finding]:
    """inf or nan that an optimizer has stepped on, with no scaler to hold it back."""
    for optimizer, windows in view.windows.items():
        hits = [w for w in windows if not w.step.finite and not w.skipped and not w.step.by_scaler and w.step.fresh]
        if not hits:
            continue
        first_one = hits[0]
        yield finding(
            "non-finite-gradient-stepped",
            # Where later gradients are finite again, somebody has put the weights back.
            "error" if hits[-1] is windows[-1] else "info",
            first_one.step.where,
            f"Step {first_one.number + 1} of {view.label(optimizer)} used a gradient with inf or nan in it, and so did "
            f"{len(hits) - 1} of the {len(windows) - first_one.number - 1} steps after it.",
            steps=steps_of(hits),
        )


def rounded_away(view: View) -> Iterator[Finding]:
    """Weights of half precision that most steps leave as they were."""
    for optimizer, windows in view.windows.items():
        looks = [(w, w.step.rounded) for w in windows if w.step.rounded is not None and not w.skipped]
        looks = [(w, one) for w, one in looks if one.entries >= LEAST_ENTRIES]
        # While the learning rate warms up, or once it has fallen, little may move in a right loop, too.
        highest = max((one.rate for _, one in looks), default=0.0)
        looks = [(w, one) for w, one in looks if one.rate >= NEAR_HIGHEST * highest]
        shares = [one.still / one.entries for _, one in looks]
        if len(looks) < LEAST_LOOKS or sum(shares) <= MOST * len(shares) or min(shares) < EACH:
            continue
        window, last = looks[-1]
        made = view.made_at(optimizer)
        yield finding(
            "updates-rounded-away",
            "warning",
            made or window.step.where,
            f"Weights are {last.dtype}: each of {times(len(looks), 'step')} of {view.label(optimizer)} that were looked at "
            f"left {math.floor(100 * min(shares))}% or more of the sampled entries of {some(last.names)} as they were, though their "
            f"gradient was not zero, and on average {math.floor(100 * sum(shares) / len(shares))}%: the steps are rounded away.",
            steps=steps_of([w for w, _ in looks]),
            names=list(last.names),
            dtype=last.dtype,
            shares=shares,
        )


def unfilled(view: View) -> Iterator[Finding]:
    """Momentum that a skipped step has made and left as the memory was."""
    for optimizer, windows in view.windows.items():
        hit = next((w for w in windows if w.step.unfilled), None)
        if hit is None:
            continue
        made = view.made_at(optimizer)
        skipped = sum(w.skipped for w in windows if w.number < hit.number)
        held = max(hit.step.unfilled.values(), key=lambda one: math.inf if math.isnan(one) else one)
        lay = "nan" if math.isnan(held) else f"numbers up to {held:.3g}" if held else "zeros this time"
        yield finding(
            "momentum-begins-unfilled",
            "warning",
            made or hit.step.where,
            f"The scaler skipped the first {times(skipped, 'step')} of {view.label(optimizer)}, which is fused: it made the "
            f"momentum of {some(hit.step.unfilled)} all the same, and left the memory unfilled. The first step that was "
            f"taken used what lay there, {lay}.",
            names=list(hit.step.unfilled)[:10],
            largest=held,
        )


def missing_steps(view: View) -> Iterator[Finding]:
    """Scaled losses, a scaler that is updated, and no `scaler.step` for the parameters."""
    updates = view.of(ScalerUpdate)
    scaled = {one.pass_number: one for one in view.of(Backward) if one.scaled}
    if len(updates) < 2 or not scaled:
        return
    for entry in view.log.optimizers:
        if entry.number in view.windows:
            continue
        mine = view.owned.get(entry.number, frozenset())
        shared = any(mine & view.owned.get(other, frozenset()) for other in view.windows)
        reached = [e for e in view.of(Accumulate) if e.pass_number in scaled and mine & set(e.names)]
        if len(reached) > 1 and not shared:
            yield finding(
                "scaler-step-missing",
                "error",
                updates[0].where,
                f"{times(len(reached), 'scaled backward pass')} put gradients on the parameters of {view.label(entry.number)}, "
                f"the scaler was updated {times(len(updates), 'time')}, and {view.label(entry.number)} never stepped.",
            )
