"""Clipping, scaling, editing, autocast, and state that is not the gradient."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradient_ledger.events import (
    Accumulate,
    Backward,
    Clear,
    Clip,
    Edit,
    Ending,
    Event,
    Finding,
    Forward,
    OwnLoad,
    Place,
    ScalerUpdate,
    Unscale,
)
from gradient_ledger.rules.view import BY_HAND, View, Window, finding, first, some, steps_of, times

LEAST_LOOKS, LEAST_ENTRIES = 3, 32
"""Steps looked at, and entries with a gradient in each, before weights are said not to move."""
NEAR_HIGHEST = 0.9
"""A learning rate of at least this share of the highest one counts."""


def _accumulates_after(window: Window, event: Event) -> bool:
    """Whether more was added onto the same gradients after that event, before the step."""
    names = set(event.names)
    for later in window.events:
        if later.number <= event.number:
            continue
        if isinstance(later, Clear) and names & set(later.names):
            return False
        if isinstance(later, Accumulate) and later.onto_fresh and names & set(later.names):
            return True
    return False


def clipping(view: View) -> Iterator[Finding]:
    """Clipping at the wrong moment, or of the wrong parameters."""
    inside: list[Window] = []
    scaled: list[tuple[Window, Clip]] = []
    late: list[Clip] = []
    early: list[Clip] = []
    orphans: list[Clip] = []
    clip_inside: Clip | None = None
    idle = _idle_clips(view)
    count = len(view.all_windows)
    for window in view.all_windows:
        for event in window.of(Clip):
            if not window.names & set(event.names) or event.where in idle:
                continue
            status = event.status
            if status.get("fresh") and _accumulates_after(window, event):
                if any(not _accumulates_after(window, e) for e in window.of(Clip)):
                    inside.append(window)
                    clip_inside = clip_inside or event
                else:
                    early.append(event)  # no clip saw the whole gradient
            if status.get("fresh") and _scaled_clip(window, event):
                scaled.append((window, event))
            if status.get("orphan"):
                orphans.append(event)
    spent = [e for e in view.of(Clip) if e.spent]
    if spent and count:
        yield finding(
            "clipped-nothing",
            "error",
            spent[0].where,
            f"Clipped {times(len(spent), 'time')} what an iterator gave that had come to its end: no parameter, and so "
            "nothing was clipped.",
            clips=len(spent),
        )
    arrived = {name: e.number for e in view.of(Accumulate) for name in e.names}  # for the last time
    for event in (e for e in view.of(Clip) if e.where not in idle):
        held = set(event.status)
        if held - {"empty"} == {"used"}:
            late.append(event)
        elif held and held <= {"empty", "zero"} and any(arrived.get(n, -1) > event.number for n in event.names):
            early.append(event)
    # A line that clips fresh gradients at other times is in its right place: this optimizer just did not train here.
    at_work = {e.where for e in view.of(Clip) if e.status.get("fresh")}
    elsewhere = list(_clips_of_others(view, at_work))
    astray = {e.where for _, hits in elsewhere for _, e in hits}
    late = [e for e in late if e.where not in at_work | astray]
    early = [e for e in early if (e.where not in at_work or e.status.get("fresh")) and e.where not in astray]
    if clip_inside is not None:
        yield finding(
            "clipped-every-micro-batch",
            "error",
            clip_inside.where,
            f"Clipped in the middle of {len({id(w) for w in inside})} of {times(count, 'window')}: each micro-batch is "
            "cut by itself, and the sum is no longer the clipped gradient of the window.",
            steps=steps_of(inside),
        )
    if scaled:
        window, event = scaled[0]
        scale, limit = event.scale or window.step.scale, event.limit
        real = f": max_norm {limit:g} at scale {scale:g} clips to {limit / scale:.2g}" if scale and limit else ""
        yield finding(
            "clipped-before-unscale",
            "error",
            event.where,
            f"Clipped gradients that still carry the loss scale, in {times(len(scaled), 'window')}{real}.",
            scale=scale,
            limit=limit,
            steps=steps_of([w for w, _ in scaled]),
        )
    for optimizer, hits in elsewhere:
        window, event = hits[0]
        yield finding(
            "clipped-another-model",
            "error",
            event.where,
            f"Between the backward() of {some(sorted(window.names))} and the step of {view.label(optimizer)}, this "
            f"clips {some(event.names)}, which that step does not use: its own gradients are not clipped, in "
            f"{times(len(hits), 'window')}.",
            steps=steps_of([w for w, _ in hits]),
            names=list(event.names)[:10],
        )
    if late and len(late) * 2 >= count:
        yield finding(
            "clipped-after-step",
            "error",
            late[0].where,
            f"Clipped {times(len(late), 'time')} after the step had used the gradients: it changed no update.",
            clips=len(late),
        )
    elif early and len(early) * 2 >= count and count:
        yield finding(
            "clipped-before-backward",
            "error",
            early[0].where,
            f"Clipped {times(len(early), 'time')} "
            + (
                "before the last backward pass of a window: what came after was not clipped."
                if any(e.status.get("fresh") for e in early)
                else "while there were no gradients: nothing was clipped."
            ),
            clips=len(early),
        )
    if orphans:
        names = sorted({n for e in orphans for n in e.names} & view.owned.get(-1, frozenset()))
        yield finding(
            "clipped-more-than-zeroed",
            "error",
            orphans[0].where,
            f"The norm that is clipped includes {some(names)}, which no optimizer steps and nothing clears: their old "
            "gradients pile up, and the others are clipped too hard.",
            names=names[:10],
        )


def _clips_of_others(view: View, at_work: set[Place | None]) -> Iterator[tuple[int, list[tuple[Window, Clip]]]]:
    """Optimizers before whose steps, once their gradients are there, others' old gradients are clipped and not theirs."""
    for optimizer, windows in view.windows.items():
        hits: list[tuple[Window, Clip]] = []
        for window in windows:
            begun = next((e.number for e in window.of(Accumulate) if window.names & set(e.names)), math.inf)
            clips = [e for e in window.of(Clip) if e.number > begun]
            if clips and not any(window.names & set(e.names) for e in clips):
                real = [e for e in clips if e.names and e.where not in at_work and e.limit != math.inf]
                hits += [(window, e) for e in real][:1]
        if optimizer != BY_HAND and len(windows) > 1 and len(hits) * 2 >= len(windows):
            yield optimizer, hits


def _idle_clips(view: View) -> set[Place | None]:
    """Lines whose clips never changed anything, as far as measured: with a limit above the norm they only read it."""
    clips = [e for e in view.of(Clip) if set(e.status) - {"empty", "zero"}]
    known = [e for e in clips if e.measured or e.limit == math.inf]
    return {e.where for e in known} - {e.where for e in known if _active(e)}


def _active(event: Clip) -> bool:
    limit = event.limit
    if limit == math.inf:
        return False
    if limit is None or event.order not in (2.0, None):
        return True
    size = event.largest if event.function == "clip_grad_value_" else math.sqrt(event.square)
    return bool(size > limit or size != size)


def _scaled_clip(window: Window, event: Clip) -> bool:
    if not event.scaled or (not window.step.by_scaler and not window.skipped):
        return False
    unscaled: set[str] = set()
    for one in window.of(Unscale):
        if one.number < event.number and not _accumulated_between(window, one, event):
            unscaled |= set(one.names)
    # A frozen or unused parameter has nothing that could be unscaled.
    filled = {name for one in window.of(Accumulate) if one.number < event.number for name in one.names}
    if (filled or window.names) & window.names & set(event.names) <= unscaled:
        return False
    scale, limit = event.scale or window.step.scale, event.limit
    # max_norm * scaler.get_scale() is right: such a limit is not tiny beside the scale, nor a usual round number.
    return not (scale and limit and limit / scale >= 0.01 and limit not in (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0))


def _accumulated_between(window: Window, one: Event, other: Event) -> bool:
    return any(one.number < e.number < other.number for e in window.of(Accumulate))


def edits(view: View) -> Iterator[Finding]:
    """Gradients changed inside a window, behind the counters, or through a shared tensor."""
    for windows in view.windows.values():
        hits: list[tuple[Window, Edit]] = []
        for window in windows:
            for event in window.of(Edit):
                if event.status == "fresh" and _accumulates_after(window, event):
                    hits.append((window, event))
        if not hits:
            continue
        factors = [f for _, e in hits for f in e.factors]
        constant = factors and max(factors) - min(factors) < 1e-3 * max(factors) and abs(factors[0] - 1) > 1e-6
        spread = factors and not constant and max(factors) <= 1 + 1e-6 and min(factors) < 1 - 1e-6
        if spread and not _by_position(hits):
            yield finding(
                "clipped-every-micro-batch",
                "warning",
                hits[0][1].where,
                f"The gradient is shortened in the middle of {times(len({id(w) for w, _ in hits}), 'window')}, by factors "
                f"from {min(factors):.3g} to {max(factors):.3g}: clipping by hand, one micro-batch at a time.",
                steps=steps_of([w for w, _ in hits]),
            )
        if constant:
            yield finding(
                "divided-every-micro-batch",
                "error",
                hits[0][1].where,
                f"The gradient is multiplied by {factors[0]:.4g} after every micro-batch: the first of a window is "
                "scaled again with each later one.",
                factor=factors[0],
                steps=steps_of([w for w, _ in hits]),
            )
    for windows in view.windows.values():
        cut = [
            (w, e)
            for w in windows
            for e in w.of(Edit)
            if e.scaled
            and e.status == "fresh"
            and (w.step.by_scaler or w.skipped)
            and not any(u.number < e.number and not _accumulated_between(w, u, e) for u in w.of(Unscale))
        ]
        factors = [f for _, e in cut for f in e.factors]
        if factors and max(factors) <= 1 + 1e-6 and max(factors) - min(factors) > 1e-3:
            yield finding(
                "clipped-before-unscale",
                "warning",
                cut[0][1].where,
                f"Gradients that still carry the loss scale are shortened here by hand, by factors from "
                f"{min(factors):.3g} to {max(factors):.3g}: whatever limit that keeps, it is one for scaled gradients.",
                "Call scaler.unscale_(optimizer) first.",
                steps=steps_of([w for w, _ in cut]),
            )
    yield from _buffers(view)
    shared = first(e for e in view.of(Edit) if e.how == "shared")
    if shared is not None:
        yield finding(
            "aliased-gradients",
            "error",
            shared.where,
            f"{some(shared.names)} got the very tensor that another parameter holds as its gradient: a backward "
            "through one changes the other.",
            names=list(shared.names),
        )
    hidden = [e for e in view.of(Edit) if e.how == "hidden"]
    if hidden:
        norms = hidden[0].norms or ()
        change = f" (norm {norms[0]:.3g} before, {norms[1]:.3g} after)" if len(norms) == 2 else ""
        yield finding(
            "hidden-write",
            "info" if hidden[0].meant else "warning",
            hidden[0].where,
            f"The gradient of {some(hidden[0].names)} changed {times(len(hidden), 'time')} with no trace in its version "
            f"counter{change}: written through .data, .numpy() or another view of its memory.",
            norms=norms,
        )


def _buffers(view: View) -> Iterator[Finding]:
    """Gradients that were put aside micro-batch by micro-batch, of which only the last comes back."""
    for optimizer, windows in view.windows.items():
        back = [(w, e) for w in windows for e in w.of(Edit) if e.carried and w.names & set(e.names)]
        lost = [(w, e) for w, e in back if e.carried == "last"]
        if lost and len(lost) == len(back):
            window, event = lost[0]
            gone = [c for c in window.of(Clear) if c.lost and c.taken]
            yield finding(
                "outside-buffer-overwritten",
                "error",
                event.where,
                f"{len(gone)} gradients were read and cleared one after the other, and what is put back here is the last "
                f"of them alone, in {times(len(lost), 'window')} of {view.label(optimizer)}: the others are lost.",
                steps=steps_of([w for w, _ in lost]),
            )


def _by_position(hits: list[tuple[Window, Edit]]) -> bool:
    """Whether the factors depend only on the place in the window, as those of a running mean do."""
    seen: dict[int, list[float]] = {}
    for window, event in hits:
        at = [e.number for w, e in hits if w is window].index(event.number)
        seen.setdefault(at, []).extend(event.factors)
    return all(max(f) - min(f) < 1e-3 * max(f) for f in seen.values() if f)


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
            by = f" by {scale:g}" if scale else ""
            yield finding(
                "loss-not-scaled",
                "error",
                bare[0].step.last_pass_at,
                f"This loss went backward without the scale, and the scaler then divided its gradient{by}: "
                f"{times(len(bare), 'window')}.",
                scale=scale,
                steps=steps_of(bare),
            )
        again: list[tuple[Window, Unscale]] = []
        for window in windows:
            for event in window.of(Unscale):
                if event.optimizer == optimizer and _accumulates_after(window, event):
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
            yield finding(
                "kept-gradients-of-skipped-step",
                "error",
                clears[-1].where if clears else (kept or windows)[-1].step.last_pass_at,
                "A step was left out because of inf or nan, its gradients were kept, and later backward passes added to "
                f"them: they stay infinite, and {taken} of {times(taken + sum(w.skipped for w in windows), 'step')} were taken"
                + ("." if kept else ", none after that."),
                taken=taken,
                windows=len(windows),
            )


def scales(view: View) -> Iterator[Finding]:
    """The scale that a gradient carries and the one that is taken off it are two."""
    for optimizer, windows in view.windows.items():
        label = view.label(optimizer)
        taken_off = [w for w in windows if w.step.by_scaler and not w.skipped and w.step.scale != 1]
        double = [(w, e) for w in taken_off for e in view.passes_of(w) if e.scaled_twice is not None]
        if double:
            window, event = double[0]
            scale = window.step.scale
            by = f" {scale:g} times" if scale else ""
            yield finding(
                "loss-scaled-twice",
                "error",
                event.scaled_twice,
                f"What goes through scaler.scale() here had been scaled before: its gradient carries the scale twice, it "
                f"is divided by it once, and {label} stepped on gradients that are{by} too long.",
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
        yield finding(
            "stepped-inside-autocast",
            "error",
            step.where,
            f"One autocast block holds {times(len(hits), 'forward pass')} after a step: it keeps the half-precision "
            "copies of the weights it made first, so these ran on weights from before the step.",
            forward=forward.where,
            forwards=len(hits),
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


def forgotten(view: View) -> Iterator[Finding]:
    """A buffer of a hand-written step whose new value is lost."""
    for where in view.log.forgotten if any(view.windows.values()) else ():
        yield finding(
            "buffer-not-kept",
            "warning",
            where,
            "This line binds a name to a new value of the buffer, and nothing in this function puts it where the buffer was "
            "taken from: the next step begins with the old one again.",
        )


def rounded_away(view: View) -> Iterator[Finding]:
    """Weights of half precision that most steps leave as they were."""
    for optimizer, windows in view.windows.items():
        looks = [(w, w.step.rounded) for w in windows if w.step.rounded is not None and not w.skipped]
        looks = [(w, one) for w, one in looks if one.entries >= LEAST_ENTRIES]
        # While the learning rate warms up, or once it has fallen, little may move in a right loop, too.
        highest = max((one.rate for _, one in looks), default=0.0)
        looks = [(w, one) for w, one in looks if one.rate >= NEAR_HIGHEST * highest]
        if len(looks) < LEAST_LOOKS or any(one.still * 2 <= one.entries for _, one in looks):
            continue
        window, last = looks[-1]
        shares = [one.still / one.entries for _, one in looks]
        made = next((entry.made_at for entry in view.log.optimizers if entry.number == optimizer), None)
        yield finding(
            "updates-rounded-away",
            "warning",
            made or window.step.where,
            f"Weights are {last.dtype}: each of {times(len(looks), 'step')} of {view.label(optimizer)} that were looked at "
            f"left {math.floor(100 * min(shares))}% or more of the sampled entries of {some(last.names)} as they were, though their "
            "gradient was not zero: the steps are rounded away.",
            steps=steps_of([w for w, _ in looks]),
            names=list(last.names),
            dtype=last.dtype,
            shares=shares,
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


def moved(view: View) -> Iterator[Finding]:
    """Weights that change between two passes whose gradients are added."""
    for windows in view.windows.values():
        hits = [(w, e) for w in windows for e in w.of(Accumulate) if w.names & set(e.moved) and w.step.fresh]
        if len(hits) * 2 < len(windows) or not hits:
            continue
        window, event = hits[0]
        yield finding(
            "weights-moved-inside-window",
            "warning",
            event.where,
            f"Between two backward passes of one window the weights {some(sorted(window.names & set(event.moved)))} were "
            f"changed, and the second gradient was added to the first, in {times(len({id(w) for w, _ in hits}), 'window')}: the "
            "sum is the gradient at neither place.",
            steps=steps_of(list({w.number: w for w, _ in hits}.values())),
        )


def own_loads(view: View) -> Iterator[Finding]:
    """A snapshot of the weights that moves with them: loading it restores nothing."""
    for where in dict.fromkeys(e.where for e in view.of(OwnLoad)):
        loads = [e for e in view.of(OwnLoad) if e.where == where]
        event = loads[0]
        kept = f"the state_dict() of {event.kept_at.short}" if event.kept_at is not None else "a state_dict()"
        since = f"{times(event.steps, 'step')} later"
        if event.replaced_at is not None:
            since = f"after other weights were loaded at {event.replaced_at.short}"
        what = f"what is computed from {kept}" if event.computed else kept
        end = "the weights stay bit for bit as they are" if event.computed else "nothing is restored"
        often = f", {times(len(loads), 'time')}" if len(loads) > 1 else ""
        yield finding(
            "snapshot-shares-memory",
            "warning",
            where,
            f"Loads {what}, {since}. That lies in the memory of the weights themselves: {end}{often}.",
            kept_at=event.kept_at,
            names=list(event.names)[:10],
        )


def one_memory(view: View) -> Iterator[Finding]:
    """Two parameters of one optimizer on one memory."""
    for optimizer, windows in view.windows.items():
        hits = [w for w in windows if w.step.one_memory]
        if not hits:
            continue
        step = hits[0].step
        made = next((entry.made_at for entry in view.log.optimizers if entry.number == optimizer), None)
        yield finding(
            "parameters-share-memory",
            "warning",
            step.joined_at or made or step.where,
            f"{some(step.one_memory)} are two parameters with two gradients, and lie in one memory: each step of "
            f"{view.label(optimizer)} moves it twice, each time by one of the gradients alone.",
            names=list(step.one_memory),
            steps=steps_of(hits),
        )


def replaced(view: View) -> Iterator[Finding]:
    """Gradients that are lost because another is put in their place, or are kept as the optimizer's own state."""
    for optimizer, windows in view.windows.items():
        over = [(w, e) for w in windows for e in w.of(Edit) if w.names & set(e.overwrote)]
        if over:
            yield finding(
                "gradient-overwritten",
                "warning",
                over[0][1].where,
                f"A gradient is put in the place of one that was put there before and that no step had used, "
                f"{times(len(over), 'time')} in {times(len({id(w) for w, _ in over}), 'window')}.",
                names=sorted(over[0][0].names & set(over[0][1].overwrote))[:10],
                steps=steps_of(list({w.number: w for w, _ in over}.values())),
            )
        itself = [e for w in windows for e in w.of(Edit) if e.adds_gradient and _grows_alike(e)]
        if len(itself) > 1:
            yield finding(
                "gradient-kept-as-state",
                "error",
                itself[0].where,
                f"This line adds a gradient to a buffer, and {some(itself[0].names)} changed in .grad itself, to "
                f"{itself[0].factors[0]:.3g} times what was there, {times(len(itself), 'time')}: the buffer is the very "
                "tensor in .grad.",
                names=list(itself[0].names)[:10],
            )
            continue
        kept = [w for w in windows if w.step.kept_as_state]
        if kept:
            yield finding(
                "gradient-kept-as-state",
                "error",
                kept[0].step.kept_at or kept[0].step.where,
                f"After the step of {view.label(optimizer)} its state for {some(kept[0].step.kept_as_state)} is the very "
                "tensor in .grad: clearing the gradient clears the state, and a backward adds to it.",
                names=list(kept[0].step.kept_as_state)[:10],
            )


def state(view: View) -> Iterator[Finding]:
    """Batch statistics and low precision, which accumulation does not average."""
    for windows in view.windows.values():
        norms = [w for w in windows if w.step.batch_norm > 1 and w.micro_batches > 1]
        if norms:
            names = norms[0].step.batch_norm_names
            yield finding(
                "batchnorm-per-micro-batch",
                "warning" if view.log.window else "info",
                next((place for w in norms if (place := w.step.batch_norm_at) is not None), None),
                f"BatchNorm ({some(names)}) saw {norms[0].step.batch_norm} micro-batches per step, each with "
                "statistics of its own: the accumulated gradient is not the large batch's.",
                names=names,
                calls=norms[0].step.batch_norm,
            )
        low = [w for w in windows if w.step.low_precision]
        if low:
            bits = {"bfloat16": 8, "float16": 11}[low[0].step.low_precision]
            yield finding(
                "low-precision-accumulation",
                "warning",
                low[0].step.last_pass_at,
                f"{times(low[0].passes, 'backward pass')} per step are summed in {low[0].step.low_precision}, which "
                f"keeps {bits} bits: small gradients are rounded away as the sum grows.",
                dtype=low[0].step.low_precision,
                passes=low[0].passes,
            )


def _grows_alike(event: Edit) -> bool:
    """Whether an edit made all gradients longer, by one factor: what was added to each was a multiple of itself."""
    factors = event.factors
    return bool(factors) and factors[0] > 1.001 and max(factors) - min(factors) < 1e-4 * factors[0]
