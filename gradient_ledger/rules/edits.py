"""What is done to gradients between backward and step: they are clipped, changed by hand, put aside, replaced, kept."""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from gradient_ledger.events import Accumulate, Clear, Clip, Edit, Ending, Event, Finding, Place, Unscale
from gradient_ledger.rules.view import (
    BY_HAND,
    View,
    Window,
    accumulates_after,
    chosen_at,
    finding,
    first,
    some,
    steps_of,
    times,
)


def clipping(view: View) -> Iterator[Finding]:
    """Clipping at the wrong moment, or of the wrong parameters."""
    inside: list[Window] = []
    scaled: list[tuple[Window, Clip]] = []
    late: list[Clip] = []
    early: list[Clip] = []
    orphans: list[Clip] = []
    clip_inside: Clip | None = None
    may_cut: list[tuple[Window, Clip]] = []
    idle = _idle_clips(view)
    count = len(view.all_windows)
    for window in view.all_windows:
        for event in window.of(Clip):
            status = event.status
            if event.where in idle and _inside_by_a_limit(window, event):
                may_cut.append((window, event))
            if not window.names & set(event.names) or event.where in idle:
                continue
            if status.get("fresh") and accumulates_after(window, event) and not _is_lent(view, window):
                if any(not accumulates_after(window, e) for e in window.of(Clip)):
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
    elif may_cut:
        event = may_cut[0][1]
        yield finding(
            "clipped-every-micro-batch",
            "warning",
            event.where,
            f"Clipped to {event.limit:g} in the middle of {len({id(w) for w, _ in may_cut})} of {times(count, 'window')}. "
            "Where the norm was measured it was below that, and nothing was cut; once it is above, each sum so far is "
            "cut by itself.",
            steps=steps_of([w for w, _ in may_cut]),
        )
    if scaled:
        window, event = scaled[0]
        scale, limit = event.scale or window.step.scale, event.limit
        real = f": max_norm {limit:g} at scale {scale:g} clips to {limit / scale:.2g}" if scale and limit else ""
        unscaled = _late_unscale(window, event)
        hit = [*{id(w): w for w, _ in scaled}.values()]  # each window once, however many calls clip in it
        yield finding(
            "clipped-before-unscale",
            "error",
            unscaled or event.where,
            f"{_clipped_at(unscaled, event)} gradients that still carry the loss scale, in "
            f"{times(len(hit), 'window')}{real}.",
            scale=scale,
            limit=limit,
            steps=steps_of(hit),
        )
    for optimizer, hits in elsewhere:
        window, event = hits[0]
        clipped = f"{some(event.names)}, which that step does not use"
        if not event.names:
            clipped = f"{times(event.strangers, 'tensor')} without a gradient that no optimizer holds"
        yield finding(
            "clipped-another-model",
            "error",
            event.where,
            f"Between the backward() of {some(sorted(window.names))} and the step of {view.label(optimizer)}, this "
            f"clips {clipped}: its own gradients are not clipped, in {times(len(hits), 'window')}.",
            steps=steps_of([w for w, _ in hits]),
            names=list(event.names)[:10],
        )
    if late and len(late) * 2 >= _windows_of(view, late):
        yield finding(
            "clipped-after-step",
            "error",
            late[0].where,
            f"Clipped {times(len(late), 'time')} after the step had used the gradients: it changed no update.",
            clips=len(late),
        )
    elif early and count and len(early) * 2 >= _windows_of(view, early):
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
            others_chosen_at=chosen_at(view, names),
        )
    yield from _counts_used(view, idle)


def _is_lent(view: View, window: Window) -> bool:
    """Whether this is no step, but the weights of a shared model, loaded into a worker that lends it its gradients."""
    return window.optimizer == BY_HAND and not window.names.isdisjoint(view.lenders.values())


def _counts_used(view: View, idle: set[Place | None]) -> Iterator[Finding]:
    """The norm that is clipped includes gradients that another optimizer has used in its last step."""
    for optimizer, windows in view.windows.items():
        mine = view.owned.get(optimizer, frozenset())
        hits: list[tuple[Window, Clip, list[str]]] = []
        for window in windows:
            clips = [e for e in window.of(Clip) if e.function == "clip_grad_norm_" and window.names & set(e.names)]
            if clips and clips[-1].where not in idle and clips[-1].status.get("fresh"):
                others = [name for name in clips[-1].names if name not in mine]
                passes = [e for e in window.of(Accumulate) if e.number < clips[-1].number]
                added = {name for e in passes for name in e.onto_used} & set(others)
                if added or 0 < clips[-1].status.get("used", 0) <= len(others):
                    hits.append((window, clips[-1], others))
        if len(hits) < 2 or len(hits) * 2 < len(windows) or optimizer == BY_HAND:
            continue
        _, clip, names = hits[0]
        yield finding(
            "clipped-more-than-zeroed",
            "warning",
            clip.where,
            f"Before {times(len(hits), 'step')} of {view.label(optimizer)}, the norm that is clipped includes gradients of "
            f"{some(names)} which another optimizer had used and nothing has cleared: the others are clipped too hard.",
            f"Clip what {view.label(optimizer)} steps, or clear all gradients before this backward().",
            names=names[:10],
            steps=steps_of([w for w, _, _ in hits]),
        )


def first_group(view: View) -> Iterator[Finding]:
    """Clipping is given one of an optimizer's groups, and nothing touches the gradients of the others."""
    for optimizer, windows in view.windows.items():
        hits: list[tuple[Window, Clip, list[str]]] = []
        whole = 0
        hooked = {name for window in windows for name in window.step.hooks}  # hooks may clip as well
        for window in windows:
            clips = [e for e in window.of(Clip) if e.first_group == optimizer and _limits(e)]
            if not clips or window.skipped:
                continue
            touched = hooked | {name for e in (*window.of(Clip), *window.of(Edit)) for name in e.names}
            missed = [name for name in window.step.names if name not in touched]
            whole += not missed
            hits += [(window, clips[-1], missed)] if missed else []
        if optimizer == BY_HAND or whole or len(hits) < 2:
            continue
        window, event, missed = hits[0]
        yield finding(
            "clipped-first-group",
            "warning",
            event.where,
            f"This clips {some(event.names)}, one parameter group of {view.label(optimizer)}; {some(missed)}, of "
            f"its other groups, {'is' if len(missed) == 1 else 'are'} stepped unclipped, in {times(len(hits), 'window')}.",
            steps=steps_of([w for w, _, _ in hits]),
            names=missed[:10],
        )


_RECURRENT = re.compile(r"weight_hh(_l\d+(_reverse)?)?$")
"""Names of the weights that carry a state on: clipping is there for them more than for any others."""


def in_part(view: View) -> Iterator[Finding]:
    """Clipping is given a part of what a step uses, and nothing touches the gradients of the rest.

    A part may be meant. Not so where two lines clip the same one, nor where both the part and the rest carry states on.
    """
    idle = _idle_clips(view)
    for optimizer, windows in view.windows.items():
        hits: list[tuple[Window, list[Clip], list[str]]] = []
        whole = 0
        hooked = {name for window in windows for name in window.step.hooks}  # hooks may clip as well
        for window in windows:
            clips = [e for e in window.of(Clip) if _limits(e) and window.names & set(e.names)]
            if not clips or window.skipped or any(e.first_group is not None for e in clips):
                continue
            touched = hooked | {name for e in (*window.of(Clip), *window.of(Edit)) for name in e.names}
            missed = [name for name in window.step.names if name not in touched]
            whole += not missed
            acts = any(e.where not in idle or e.whole_at is not None for e in clips)
            if missed and acts and set(window.step.names) & touched:
                hits.append((window, clips, missed))
        if optimizer == BY_HAND or whole or len(hits) < 2:
            continue
        window, clips, missed = hits[0]
        clipped = [name for e in clips for name in e.names if name in window.names]
        pairs = pairwise(clips[::-1])
        twin = next((e for e, before in pairs if e.where != before.where and _is_twin(e, before)), None)
        carry = [[name for name in names if _RECURRENT.search(name)] for names in (clipped, missed)]
        if twin is None and all(carry):
            clipped, missed = carry
        also = f", as {clips[0].where} has done" if twin is not None else ""
        whole_at = next((e.whole_at for e in clips if e.whole_at is not None), None)
        also += f", where {whole_at.short} is for the whole model" if whole_at is not None else ""
        yield finding(
            "clipped-one-part",
            "warning" if twin is not None or all(carry) or whole_at is not None else "info",
            (twin or clips[0]).where,
            f"This clips {some(clipped)}{also}; {some(missed)}, which the same steps of {view.label(optimizer)} use, "
            f"{'goes' if len(missed) == 1 else 'go'} into them unclipped, in {times(len(hits), 'window')}.",
            steps=steps_of([w for w, _, _ in hits]),
            names=missed[:10],
        )


def without_limit(view: View) -> Iterator[Finding]:
    """Clipping is given a limit that is zero or less."""
    clips = [e for e in view.of(Clip) if e.limit is not None and e.limit <= 0 and e.status.get("fresh")]
    for where in dict.fromkeys(e.where for e in clips):
        hits = [e for e in clips if e.where == where]
        one = hits[0]
        if one.limit == 0:
            left = "nothing is left of the gradients"
        elif one.function == "clip_grad_value_":
            left = f"every entry of the gradients is {one.limit:g} after it, whatever it was"
        else:
            left = "the gradients point the other way after it, and the steps go up the loss"
        if len(hits) > 1:
            yield finding(
                "clip-limit-not-positive",
                "error",
                where,
                f"{one.function} was given {one.limit:g} as its limit, {times(len(hits), 'time')}: {left}.",
                limit=one.limit,
                clips=len(hits),
            )


def twice(view: View) -> Iterator[Finding]:
    """The same parameters are clipped in the same way, one time after the other: by two lines, where another optimizer
    holds parameters of the same shapes that nothing clips; or by one, which another optimizer's were unscaled for."""
    shapes: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)
    for one in view.log.parameters:
        for owner in one.owners:
            shapes[owner][one.shape] += 1
    for optimizer, windows in view.windows.items():
        pairs = [(w, pair) for w in windows for pair in pairwise(w.of(Clip)) if _is_twin(*pair) and _limits(pair[0])]
        pairs = [(w, pair) for w, pair in pairs if not _accumulated_between(w, *pair) and w.names & set(pair[0].names)]
        unclipped = [
            other
            for other, theirs in view.windows.items()
            if other not in (optimizer, BY_HAND) and len(theirs) > 1
            if not any(w.names & set(e.names) for w in theirs for e in w.of(Clip))
        ]
        again_at = [(w, pair) for w, pair in pairs if pair[0].where == pair[1].where]
        for other in unclipped:
            meant = [(w, pair) for w, pair in again_at if other in _unscaled_between(w, *pair)]
            if len(meant) > 1 and optimizer != BY_HAND:
                yield finding(
                    "clipped-another-model",
                    "warning",
                    meant[0][1][1].where,
                    f"This clips {some(meant[0][1][1].names)} twice in a row, the second time when what {view.label(other)} "
                    f"steps has been unscaled: that goes into {times(len(meant), 'step')} unclipped.",
                    steps=steps_of([w for w, _ in meant]),
                )
                return
        pairs = [(w, pair) for w, pair in pairs if pair[0].where != pair[1].where]
        bare = [other for other in unclipped if shapes[other] == shapes[optimizer]]
        if len(pairs) > 1 and bare and optimizer != BY_HAND:
            first, again = pairs[0][1]
            yield finding(
                "clipped-another-model",
                "warning",
                again.where,
                f"This clips {some(again.names)}, as {first.where.short if first.where else 'another line'} has just done. "
                f"What {view.label(bare[0])} steps has the same shapes, and goes into {times(len(pairs), 'step')} unclipped.",
                steps=steps_of([w for w, _ in pairs]),
            )


def _is_twin(one: Clip, other: Clip) -> bool:
    """Whether two calls clip the same parameters in the same way."""
    alike = (one.function, one.limit, one.order) == (other.function, other.limit, other.order)
    return alike and set(one.names) == set(other.names)


def _unscaled_between(window: Window, one: Clip, other: Clip) -> set[int]:
    """The optimizers whose gradients are unscaled between two clips."""
    return {e.optimizer for e in window.of(Unscale) if one.number < e.number < other.number}


FOR_THE_NORM = 1000.0
"""Limits from here on are there for what the call returns, the norm."""


def _limits(event: Clip) -> bool:
    return bool(event.status.get("fresh")) and (event.limit or 0.0) < FOR_THE_NORM


def _clips_of_others(view: View, at_work: set[Place | None]) -> Iterator[tuple[int, list[tuple[Window, Clip]]]]:
    """Optimizers before whose steps, once their gradients are there, others' gradients are clipped and not theirs: old
    ones, or new ones that are cleared before any step uses them."""
    for_nothing = _clips_for_nothing(view)
    for optimizer, windows in view.windows.items():
        hits: list[tuple[Window, Clip]] = []
        for window in windows:
            begun = next((e.number for e in window.of(Accumulate) if window.names & set(e.names)), math.inf)
            clips = [e for e in window.of(Clip) if e.number > begun]
            if clips and not any(window.names & set(e.names) for e in clips):
                # What has no gradient may be frozen; a copy that has none is known as nobody's.
                given = [e for e in clips if (e.status.get("used") if e.names else e.strangers)]
                given = [e for e in given if e.where not in at_work] + [e for e in clips if e.where in for_nothing]
                hits += [(window, e) for e in given if (e.limit or 0.0) < FOR_THE_NORM][:1]
        if optimizer != BY_HAND and len(windows) > 1 and len(hits) * 2 >= len(windows):
            yield optimizer, hits


def _clips_for_nothing(view: View) -> set[Place | None]:
    """Lines whose clipped gradients, new ones, were all cleared before a step used them."""
    clips = [e for e in view.of(Clip) if e.names and e.status.get("fresh")]
    after = sorted((e for e in view.log.events if isinstance(e, Clear | Ending)), key=lambda e: e.number)
    numbers = [e.number for e in after]
    lost: dict[Place | None, list[bool]] = defaultdict(list)
    for clip in clips:
        names = set(clip.names)
        later = (e for e in after[bisect(numbers, clip.number) :] if not names.isdisjoint(e.names))
        if (first := next(later, None)) is not None:
            lost[clip.where].append(isinstance(first, Clear))
    return {where for where, each in lost.items() if len(each) > 1 and all(each)}


def _windows_of(view: View, clips: list[Clip]) -> int:
    """How many windows the optimizers have whose parameters were clipped: others may have many more."""
    names = {name for one in clips for name in one.names}
    return sum(not window.names.isdisjoint(names) for window in view.all_windows)


def _idle_clips(view: View) -> set[Place | None]:
    """Lines whose clips never changed anything, as far as measured: with a limit above the norm they only read it.

    Not those that came too early to change it.
    """
    clips = [e for e in view.of(Clip) if set(e.status) - {"empty", "zero"}]
    known = [e for e in clips if e.measured or e.limit == math.inf]
    return {e.where for e in known} - {e.where for e in known if _active(e)} - _too_early(view)


def _too_early(view: View) -> set[Place | None]:
    """Lines whose clips found less than their limit, and what they should have clipped was more when it was stepped.

    What carries the loss scale is longer anyway.
    """
    return {
        e.where
        for w in view.all_windows
        for e in w.of(Clip)
        if w.step.norm is not None and e.limit is not None and e.order == 2.0 and e.function == "clip_grad_norm_"
        if not any(w.step.scaled)
        and w.step.norm > e.limit * (1 + 1e-3)
        and w.names <= set(e.names)
        and accumulates_after(w, e)
    }


LIMITS = 10.0
"""Norms are clipped to as much, at most: a larger limit is there to have the norm returned."""


def _inside_by_a_limit(window: Window, event: Clip) -> bool:
    """Whether a clip comes before the last pass of a window that is clipped at its end as well, by a limit that is meant
    to be one."""
    limit = event.limit
    inside = bool(window.names & set(event.names)) and event.status.get("fresh") and accumulates_after(window, event)
    if not inside or limit is None or limit > LIMITS or event.function == "clip_grad_value_":
        return False
    return any(not accumulates_after(window, e) and e.where == event.where for e in window.of(Clip))


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


def _late_unscale(window: Window, event: Event) -> Place | None:
    """Where gradients are unscaled that had been clipped by a helper: the helper is right, its call stands too early."""
    later = (e for e in window.of(Unscale) if e.number > event.number and e.optimizer == window.optimizer)
    place = next((e.where for e in later if not _accumulated_between(window, event, e)), None)
    helper = place is not None and event.where is not None and event.where.function != place.function
    return place if helper else None


def _clipped_at(unscaled: Place | None, event: Event) -> str:
    return f"Before this, {event.where.short} has clipped" if unscaled is not None and event.where else "Clipped"


def _accumulated_between(window: Window, one: Event, other: Event) -> bool:
    return any(one.number < e.number < other.number for e in window.of(Accumulate))


def divided_late(view: View) -> Iterator[Finding]:
    """A sum of several passes that is clipped first and divided by their number afterwards."""
    idle = _idle_clips(view)
    for windows in view.windows.values():
        hits = [(w, e) for w in windows if w.step.passes > 1 for e in w.of(Clip) if e.where not in idle]
        hits = [(w, e) for w, e in hits if w.names & set(e.names) and _is_divided_after(w, e)]
        # A limit that is worked out may be one for the sum.
        if len(hits) > 1 and not hits[0][1].limit_is_product:
            window, clip = hits[0]
            yield finding(
                "clipped-before-division",
                "warning",
                clip.where,
                f"This line clips the sum of {times(window.step.passes, 'pass')}, and only then are the gradients divided "
                f"by {window.step.passes}: what the step used was at most {1 / window.step.passes:.3g} of the limit, in "
                f"{times(len({w.number for w, _ in hits}), 'window')} looked at.",
                steps=steps_of([w for w, _ in hits]),
                limit=clip.limit,
            )


def _is_divided_after(window: Window, clip: Clip) -> bool:
    """Whether all gradients that were clipped are then divided by how many passes of one loss they are the sum of."""
    clipped = set(clip.names) & set(window.step.names)
    after = [e for e in window.of(Edit) if e.number > clip.number and set(e.names) & clipped]
    factors = [factor for e in after for factor in e.factors]
    whole = clipped <= {name for e in after for name in e.names} and len(set(window.step.trails)) < 2
    if not factors or not whole or accumulates_after(window, clip):
        return False
    return all(abs(factor * window.step.passes - 1) < 1e-3 for factor in factors)


def by_hand(view: View) -> Iterator[Finding]:
    """Gradients changed inside a window, behind the counters, or through a shared tensor."""
    for windows in view.windows.values():
        hits: list[tuple[Window, Edit]] = []
        for window in windows:
            for event in window.of(Edit):
                if event.status == "fresh" and accumulates_after(window, event):
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
        beside = [f * (w.step.scale or 1.0) for w, e in cut for f in e.factors]  # all the same where it is taken off
        if factors and max(factors) <= 1 + 1e-6 and max(beside) - min(beside) > 1e-3 * max(beside):
            unscaled = _late_unscale(*cut[0])
            here = f"by {cut[0][1].where.short}, before this," if unscaled and cut[0][1].where else "here"
            yield finding(
                "clipped-before-unscale",
                "warning",
                unscaled or cut[0][1].where,
                f"Gradients that still carry the loss scale are shortened {here} by hand, by factors from "
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
        yield finding(
            "hidden-write",
            "info" if hidden[0].meant else "warning",
            hidden[0].where,
            f"The gradient of {some(hidden[0].names)} changed {times(len(hidden), 'time')} with no trace in its version "
            f"counter{_change(hidden[0])}: written through .data, .numpy() or another view of its memory.",
            norms=hidden[0].norms or (),
        )
    measured = [e for e in view.of(Edit) if e.measured_at is not None and e.status == "fresh"]
    if measured:
        yield finding(
            "hidden-write",
            "warning",
            measured[0].measured_at,
            f"This changes the gradient of {some(measured[0].names)} itself, {times(len(measured), 'time')}{_change(measured[0])}: the NumPy view "
            "that it works on lies in the same memory, and what is read from that afterwards is a number.",
            "Work on a copy, as in (g * g).sum() or p.grad.cpu().numpy().copy().",
            norms=measured[0].norms or (),
            view_taken_at=measured[0].where,
        )
    copied = [e for e in view.of(Edit) if e.copy_changed_at is not None and e.status == "fresh"]
    if copied:
        yield finding(
            "hidden-write",
            "info",
            copied[0].copy_changed_at,
            f"This changes the gradient of {some(copied[0].names)} through NumPy, {times(len(copied), 'time')}{_change(copied[0])}, "
            "with no trace in its version counter; and where gradients are on a GPU, .cpu() gives a copy of them, and "
            "nothing is changed.",
            "Change the gradient itself, with torch: p.grad.clamp_(), p.grad.mul_(), p.grad.nan_to_num_().",
            norms=copied[0].norms or (),
            view_taken_at=copied[0].where,
        )


def _change(edit: Edit) -> str:
    """The norms before and after it, where they were taken."""
    return f" (norm {edit.norms[0]:.3g} before, {edit.norms[1]:.3g} after)" if edit.norms else ""


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


def idle_edits(view: View) -> Iterator[Finding]:
    """Gradients that are changed when the step has used them, and cleared before anything else does."""
    clears = [e for e in view.of(Clear) if e.idle_edits and e.edited_at is not None]
    for where in dict.fromkeys(e.edited_at for e in clears):
        mine = [e for e in clears if e.edited_at == where]
        edits = [e for e in view.of(Edit) if e.where == where]
        names = sorted({name for e in mine for name in e.idle_edits})
        used = {e.step for e in edits if e.status == "used"}
        # Where the line also changes what no step has used, it may stand in its right place.
        if where is None or len(mine) < 2 or not edits or any(e.step not in used for e in edits):
            continue
        call = mine[0].edited_by  # the helper may be right, and its call stand too late
        yield finding(
            "changed-after-step",
            "warning",
            call or where,
            f"{f'{where.short} changes' if call is not None else 'This changes'} the gradients of {some(names)} when the "
            f"step has used them, and they are cleared before anything else does, {times(len(mine), 'time')}: it changed "
            "no update.",
            names=names[:10],
            steps=sorted({e.step for e in mine})[:10],
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
        itself = [e for w in windows for e in w.of(Edit) if _changes_itself(view, e)]
        if len(itself) > 1:
            kept_at = next((e.kept_at for e in itself if e.kept_at is not None), None)
            did = "keeps a gradient as it is" if kept_at else "adds a gradient to a buffer"
            yield finding(
                "gradient-kept-as-state",
                "error",
                kept_at or itself[0].where,
                f"This line {did}, and {some(itself[0].names)} changed in .grad itself, to "
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


def _changes_itself(view: View, event: Edit) -> bool:
    """Whether what added gradients to a buffer changed the gradients, and all by one factor: the buffer is they.

    Where the text only says that the function keeps them, no clear may have put others in their place: it would be a
    scaling by hand, of gradients that the kept ones are not.
    """
    if event.adds_gradient:
        return _grows_alike(event)
    factors = event.factors
    if event.kept_at is None or not factors or abs(factors[0] - 1) < 1e-3 or event.status == "fresh":
        return False
    cleared = [e.how for e in view.of(Clear) if set(e.names) & set(event.names)]
    return max(factors) - min(factors) < 1e-4 * factors[0] and "zeros" in cleared and "none" not in cleared


def _grows_alike(event: Edit) -> bool:
    """Whether an edit made all gradients longer, by one factor: what was added to each was a multiple of itself."""
    factors = event.factors
    return bool(factors) and factors[0] > 1.001 and max(factors) - min(factors) < 1e-4 * factors[0]


_LOST = {
    "unchanged": (
        "gradient-not-changed",
        "This line makes a new tensor of a gradient and binds the name to it; nothing reads that name afterwards, and "
        "the gradient that is stepped on stays as it was.",
    ),
    "thrown_away": (
        "gradient-not-changed",
        "This line makes a new tensor of a gradient and does nothing with it: the gradient stays as it was.",
    ),
    "overwritten": (
        "loss-overwritten",
        "This line binds the name of a loss to another one, and the first has gone into no sum and no backward(): what it was "
        "computed for trains nothing.",
    ),
    "in_vain": (
        "parameter-not-changed",
        "This line makes a new tensor of a weight and does nothing with it: the weight stays as it was.",
    ),
    "rebound": (
        "parameter-not-changed",
        "This line makes a new tensor and binds the loop's own name to it; nothing reads that name afterwards, and what "
        "the loop goes over stays as it was.",
    ),
    "unprojected": (
        "gradient-not-changed",
        "This line binds the loop's own name to a new tensor, and behind the inner loop nothing reads it: the gradient that "
        "the outer loop took from its list stays there as it was.",
    ),
    "unloaded": (
        "parameter-not-changed",
        "This line puts a new value into the dictionary that state_dict() gave, and nothing loads that: the dictionary "
        "holds another tensor now, and the weights are what they were.",
    ),
    "in_defaults": (
        "schedule-moves-nothing",
        "This line writes a learning rate into the defaults of an optimizer. They are what a group begins with that is "
        "added later; those that there are keep the rate they have.",
    ),
    "in_numbers": (
        "schedule-moves-nothing",
        "This line changes a number that was the learning rate when the optimizer was made. The optimizer has a copy of it, "
        "and took every step at the rate that it began with.",
    ),
    "in_attributes": (
        "schedule-moves-nothing",
        "This line gives the optimizer an attribute, which nothing reads: its steps go by the options of its groups.",
    ),
    "unwritten": (
        "schedule-moves-nothing",
        "This line asks for the learning rate of now, and no text writes it into the optimizer's groups: every step was taken "
        "at the rate that the optimizer was made with.",
    ),
    "detached_whole": (
        "straight-through-cut",
        "This line takes the sum of what it adds and takes away out of its graph as a whole: no gradient passes it to "
        "what it is made of.",
    ),
    "residuals_cut": (
        "graph-cut",
        "This line detaches what the function adds again further down: the way around these layers carries numbers and no "
        "gradient, and all that stands before them learns through the layers alone.",
    ),
    "remainder_of_one": (
        "remainder-of-one",
        "The remainder in this condition is taken of 1 alone, and then added: so it does not tell every so many steps.",
    ),
    "given_memory": (
        "snapshot-shares-memory",
        "This line gives the parameters of one model the data of another one's, which is no copy: the two lie in one memory "
        "now, and each step of one moves the other.",
    ),
    "backup_in_memory": (
        "snapshot-shares-memory",
        "This line keeps where the weights lie, and no copy of them. Other values are copied there next, and what is copied "
        "back later is these.",
    ),
    "forgotten": (
        "buffer-not-kept",
        "This line binds a name to a new value of the buffer, and nothing in this function puts it where the buffer was "
        "taken from: the next step begins with the old one again.",
    ),
    "counted": (
        "bias-correction-counts-parameters",
        "This line stands in a loop over the parameters, which takes a power by the count: it grows by one for each of them, "
        "and the later ones of the first steps are corrected as if more steps had been taken.",
    ),
}
"""By the field of a log that holds the lines, what is lost or miscounted there by its text."""
OFTEN = 3
"""Times that gradients were read when they were gone which are no accident of a first or a last iteration."""


def gone(view: View) -> Iterator[Finding]:
    """Gradients are read each time after they were cleared."""
    for one in view.log.gone:
        if one.times >= OFTEN and any(view.windows.values()):
            yield finding(
                "gradient-read-when-cleared",
                "warning",
                one.where,
                f"This line read the gradient of {one.name}, {times(one.times, 'time')} with new backward passes before it, "
                "and each time there was none any more: what is made of gradients here is made of nothing.",
                times=one.times,
            )


_INSTEAD = {
    "backup_in_memory": "Keep copies: p.detach().clone().",
    "given_memory": "Copy the values: target.data.copy_(source.data), or target.load_state_dict(source.state_dict()).",
    "residuals_cut": "Keep its graph: residual = x. An addition does not write to x.",
    "in_vain": "Change it in place, and without a graph: with torch.no_grad(): p.clamp_(-c, c).",
    "unprojected": "Put it back: for i, g in enumerate(grads): ...; grads[i] = g, or change it in place.",
    "unloaded": "Write into the entry: state[key].copy_(value), or load the dictionary: model.load_state_dict(state).",
    "in_attributes": "for group in optimizer.param_groups: group['lr'] = lr",
    "unwritten": "for group in optimizer.param_groups: group['lr'] = lr",
    "in_defaults": "for group in optimizer.param_groups: group['lr'] = lr",
    "in_numbers": "for group in optimizer.param_groups: group['lr'] = lr",
}
"""What to do, where the catalogue's remedy is for other forms of the mistake."""


def lost(view: View) -> Iterator[Finding]:
    """A name is bound to a new value, which is lost: of a gradient, of a parameter, or of the buffer of a hand-written
    step; such a step counts parameters where it is to count steps; or a straight-through lets no gradient through."""
    stepped = any(view.windows.values())
    rates = [{w.step.rate for w in windows} for windows in view.windows.values()]
    for field, (name, seen) in _LOST.items():
        if field in ("in_numbers", "unwritten") and any(len(one) > 1 for one in rates):
            continue
        # A step that changes no parameter is none that anybody could see.
        for where in getattr(view.log, field) if stepped or field == "rebound" else ():
            yield finding(name, "warning", where, seen, _INSTEAD.get(field, ""))
