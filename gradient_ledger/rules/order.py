"""Clearing at the wrong time, or not at all."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations, takewhile

from gradient_ledger.events import (
    Accumulate,
    Backward,
    Clear,
    DataPass,
    Edit,
    Ending,
    Finding,
    Forward,
    InputGradient,
    Place,
    Step,
    Taken,
    Trail,
)
from gradient_ledger.rules.view import (
    BY_HAND,
    View,
    Window,
    finding,
    has_run,
    is_divided,
    not_called,
    some,
    steps_of,
    times,
)


def without_parentheses(view: View) -> Iterator[Finding]:
    """A method that is named and not called."""
    # Where nothing is stepped at all, that is what is wrong.
    for one in not_called(view) if any(view.windows.values()) else ():
        yield finding(
            "named-and-not-called",
            "warning",
            one.where,
            f"This names {one.name} and does not call it: nothing is done here.",
            f"{one.name}()",
        )


def taken(view: View) -> Iterator[Finding]:
    """Gradients that the user's code puts to use, with ones in them that a step had used before."""
    stepped = {name for w in view.all_windows for name in w.step.mixed.get("used", ())}
    found = [e for e in view.of(Taken) if not stepped & set(e.names)]
    if len(found) > 1:
        source = view.by_pass.get(found[0].backward)
        yield finding(
            "used-gradients-taken",
            "warning",
            source.where if source else found[0].where,
            f"The gradients read at {found[0].where} hold this pass on top of an earlier one, which a step had used and "
            f"nothing cleared: {times(len(found), 'time')}.",
            names=list(found[0].names)[:10],
        )


def inputs(view: View) -> Iterator[Finding]:
    """Gradients of an input that pile up from one iteration of an attack to the next."""
    found = [e for e in view.of(InputGradient) if e.onto_read]
    if len(found) > 2:
        source = view.by_pass.get(found[0].backward)
        yield finding(
            "input-gradient-piles-up",
            "warning",
            source.where if source else found[0].where,
            f"This pass adds to a gradient that was read at {found[0].where} before, and of which nothing was cleared, "
            f"though the tensor has changed since: {times(len(found), 'time')}.",
            read_at=found[0].where,
        )


def idle_closures(view: View) -> Iterator[Finding]:
    """A closure that is called again and again, and computes nothing anew."""
    for optimizer, windows in view.windows.items():
        calls = [w for w in windows if (w.step.closure_calls or 0) > 1]
        hits = [w for w in calls if w.step.closure_idle == (w.step.closure_calls or 0) - 1]
        if hits and len(hits) * 2 >= len(calls):
            yield finding(
                "closure-without-backward",
                "error",
                hits[0].step.where,
                f"{view.label(optimizer)} called its closure several times a step, in {times(len(hits), 'step')}, and no call "
                "but perhaps the first brought a new gradient: it moved the weights, and was given the old gradient again.",
                steps=steps_of(hits),
            )


def grown(view: View) -> Iterator[Finding]:
    """Gradients that are read one after another, each with those before it still in it."""
    for one in view.log.grown:
        if one.passes > 1 and any(view.windows.values()):
            yield finding(
                "read-without-clearing",
                "warning",
                one.where,
                f"The gradients of {some(one.names)} were read after every pass of this line, and nothing cleared them "
                f"before the next: {times(one.passes, 'pass')} added to what had been read. No step used that sum.",
                names=list(one.names)[:10],
                passes=one.passes,
            )


def lost(view: View) -> Iterator[Finding]:
    """Gradients cleared before any step had used them."""
    guarding = {(one.file, one.line) for one in view.log.guarding_clears}
    for optimizer, windows in view.windows.items():
        if optimizer == BY_HAND and not any(w.names for w in windows):
            continue
        used = {trail for w in windows for trail in w.step.trails}
        before: dict[Place | None, list[Window]] = defaultdict(list)
        guarded: dict[Place | None, list[Window]] = defaultdict(list)
        inside: dict[Place | None, list[tuple[Window, Clear]]] = defaultdict(list)
        single: dict[Place | None, list[tuple[Window, Clear]]] = defaultdict(list)
        dropped: list[tuple[Window, Clear]] = []
        clean = [w.passes for w in windows if w.passes and not _lost(w, None)]
        usual = view.log.window or (sorted(clean)[len(clean) // 2] if clean else 0)
        # Now and then, after somebody looked at the gradients: a guard against spikes, and an idle step. What clears
        # under no condition, and before a model is evaluated, guards nothing.
        rare = sum(not w.step.fresh for w in windows) * 4 <= len(windows)
        # Whether gradients are written to is looked at in the first windows; the others do as they did.
        begun = windows[:BEGUN]
        by_hand = optimizer == BY_HAND or sum(map(_rewritten, begun)) * 2 > len(begun)
        for window in windows:
            if not window.step.fresh:
                thrown = _lost(window, None)
                guards = all(e.taken and not _evaluated_behind(view, window, e) for e in thrown)
                if thrown and not (len(windows) >= 8 and guards and rare):
                    before[thrown[-1].where].append(window)
                elif thrown and window.step.zeros and window.step.idle_by:
                    guarded[thrown[-1].where].append(window)
                continue
            thrown = _lost(window, used)
            # Behind another optimizer's step they may be meant to go, and where somebody has looked at them; not if each
            # is divided for a window of all of them.
            divided = _divided_for_all(view, window, thrown, used)
            if not divided:
                thrown = [e for e in thrown if not e.after_step]
            if by_hand or window.step.assigned or _rewritten(window):
                # Read and cleared, then written back or stepped along by hand: somebody has sums of their own.
                thrown = [e for e in thrown if not e.taken]
            if not thrown:
                continue
            count = sum(e.lost for e in thrown)
            looked_at = not divided and any(e.taken or e.hooked for e in thrown)
            whole = window.passes >= usual if usual else count < window.passes and len(thrown) == 1
            if whole and (window.passes > 1 or _new_epoch(window)):
                if window.number > 0:  # before the first step there was no window to have a tail: a trial run
                    dropped.append((window, thrown[-1]))
            elif window.passes > 1 or (usual != 1 and not _in_parts(window, thrown)):
                inside[thrown[-1].where].append((window, thrown[-1]))
            elif not looked_at and len(window.of(Backward)) >= window.passes + count:
                single[thrown[-1].where].append((window, thrown[-1]))
        for place, hit in before.items() if not view.repeats(optimizer) else ():
            yield _zeroed_before_step(view, optimizer, place, hit, windows)
        for place, hit in guarded.items():
            if len(hit) > 1:
                yield _guarded_by_zeros(view, optimizer, place, hit, windows)
        # Where steps use one pass alone, others of its line are given up now and then, but not before most steps. (That
        # very pass is not among them, of which a part of the parameters may have been cleared.)
        inside |= {
            place: pairs
            for place, pairs in single.items()
            if len(pairs) > max(2, len(windows) // 2) or _each_time_for_another(windows, place, pairs)
        }
        for place, pairs in inside.items():
            if place is not None and (place.file, place.line) in guarding and 4 * len(pairs) <= len(windows):
                continue  # a window with a bad loss in it is given up as a whole
            behind = _behind_an_epoch(view, optimizer, pairs, windows)
            thrown_away = [(e.where, trail) for w, _ in pairs for e in _lost(w, None) for trail in e.lost_trails]
            gone = sum(trail in used for _, trail in thrown_away)
            others = sum(trail not in used and where == place for where, trail in thrown_away)
            yield behind or _zeroed_inside(place, pairs, windows, gone, others)
        given_up = [e for _, e in dropped if e.where is not None and (e.where.file, e.where.line) in guarding]
        if 4 * len(given_up) <= len(windows):  # as above: such a window is no tail
            dropped = [(w, e) for w, e in dropped if e not in given_up]
        yield from _tail_dropped(view, optimizer, dropped, windows, usual)


def _each_time_for_another(windows: list[Window], place: Place | None, pairs: list[tuple[Window, Clear]]) -> bool:
    """Whether a line throws gradients away each time that it runs, now and then, and the steps behind it use a loss
    that is only ever used there: as a penalty that was to be added to what went."""
    runs = sum(e.where == place for w in windows for e in w.of(Clear))
    gone = {trail for _, e in pairs for trail in e.lost_trails}
    hit = {id(w) for w, _ in pairs}
    instead = {trail for w, _ in pairs for trail in w.step.trails}
    others = {trail for w in windows if id(w) not in hit for trail in w.step.trails}
    for_inputs = any(w.of(InputGradient) for w, _ in pairs)
    return 1 < len(pairs) == runs and instead.isdisjoint(gone | others) and gone <= others and not for_inputs


def _lost(window: Window, used: set[Trail] | None) -> list[Clear]:
    """Clears in this window that threw away gradients for this optimizer; of passes its steps use, if given."""
    return [
        event
        for event in window.of(Clear)
        if event.lost
        and not event.nonfinite
        and window.names & set(event.lost_names)
        and (used is None or any(trail in used for trail in event.lost_trails))
    ]


def _evaluated_behind(view: View, window: Window, clear: Clear) -> bool:
    """Whether a clear stands under no condition of its own, and a model ran without gradients between it and the step."""
    under = {(one.file, one.line) for one in view.log.clears_under}
    if clear.where is None or (clear.where.file, clear.where.line) in under:
        return False
    return any(e.number > clear.number and not e.grad for e in window.of(Forward))


def _divided_for_all(view: View, window: Window, thrown: list[Clear], used: set[Trail]) -> bool:
    """Whether each loss that a step used was divided by as many as it used and these clears threw away, those meant for
    other optimizers counted or not."""
    passes = view.passes_of(window)
    own = sum(trail in used for e in thrown for trail in e.lost_trails)
    counts = {window.passes + gone for gone in (own, sum(e.lost for e in thrown)) if gone}
    return bool(passes) and any(all(is_divided(one, count) for one in passes) for count in counts)


def cleared_twice(view: View) -> Iterator[Finding]:
    """Two clears of one optimizer in each window, and between them passes of its own parameters that no step ever uses.

    Not those for the gradient of an input, as of an attack, nor those whose gradients somebody reads, or takes by hooks.
    """
    used = {trail for w in view.all_windows for trail in w.step.trails}
    for_inputs = {e.backward for e in view.of(InputGradient)}
    # Where optimizers take turns, a model may be cleared by itself. Else that is how an attack's gradients are let go.
    turns = len(view.windows) > 1 and BY_HAND not in view.windows
    for optimizer, windows in view.windows.items():
        hits: list[tuple[Window, Clear]] = []
        for window in windows if optimizer != BY_HAND else ():
            clears = [e for e in window.of(Clear) if e.by == optimizer or (turns and window.names <= set(e.names))]
            second = next((e for e in clears[1:] if e.lost and window.names & set(e.lost_names)), None)
            if second is None or second.taken or second.hooked or second.nonfinite or not window.step.fresh:
                continue
            passes = [e for e in window.of(Accumulate) if clears[0].number < e.number < second.number]
            mine = all(set(e.names) <= window.names and e.pass_number not in for_inputs for e in passes)
            if passes and mine and used.isdisjoint(second.lost_trails) and not window.step.assigned:
                hits.append((window, second))
        if len(hits) > 1 and len(hits) * 2 >= len(windows) and len({e.where for _, e in hits}) == 1:
            yield _zeroed_inside(hits[0][1].where, hits, windows, sum(e.lost for _, e in hits))


def part_never_arrives(view: View) -> Iterator[Finding]:
    """Clears of all that an optimizer holds, between two passes of a window whose gradients are taken one after the
    other: what only the first one reaches, and nobody reads, arrives in no step."""
    arrived = {name for w in view.all_windows for name in w.step.names}
    for optimizer, windows in view.windows.items():
        waiting = view.owned.get(optimizer, frozenset()) - arrived
        if optimizer == BY_HAND or not waiting or len(windows) < 3:
            continue
        hits: list[tuple[Window, Clear, frozenset[str]]] = []
        for window in windows:
            last = max((e.number for e in window.of(Accumulate)), default=0)
            for clear in window.of(Clear):
                whole = clear.by == optimizer or (clear.by is None and window.names <= set(clear.names))
                named = waiting & set(clear.unread)
                if whole and named and clear.taken and not (clear.nonfinite or clear.hooked) and clear.number < last:
                    hits.append((window, clear, named))
        found = {w.number: w for w, _, _ in hits}
        if 2 * len(found) > len(windows):
            names = sorted({name for _, _, named in hits for name in named})
            yield finding(
                "zeroed-inside-window",
                "error",
                hits[0][1].where,
                f"This line clears in the middle of a window. Some of the gradients had been read by then, those of "
                f"{some(names)} had not: they were thrown away in {len(found)} of {times(len(windows), 'window')} of "
                f"{view.label(optimizer)}, and no step ever had one of them.",
                "Take those gradients before the clear as well, or leave them where they are and clear only what is taken.",
                steps=steps_of([*found.values()]),
                names=names[:10],
            )


def unused(view: View) -> Iterator[Finding]:
    """Backward passes of what one optimizer holds that come after its step, and are cleared before the next one.

    Not those for the gradient of an input, nor those whose gradients somebody reads, or takes by hooks.
    """
    used = {trail for w in view.all_windows for trail in w.step.trails}
    numbers = {number for w in view.all_windows for number in w.step.pass_numbers}
    held = {name for optimizer, names in view.owned.items() if optimizer != BY_HAND for name in names}
    for_inputs = {e.backward for e in view.of(InputGradient)}
    for optimizer, windows in view.windows.items():
        hits: list[tuple[Window, Backward, Clear]] = []
        if optimizer == BY_HAND:
            continue
        # What ran before the first step as well stands before the clear, and not after the step.
        early = {e.where for e in windows[0].of(Backward)}
        for window in windows[1:]:
            touched = {e.pass_number: set(e.names) for e in window.of(Accumulate)}
            clear = next((e for e in window.of(Clear) if window.names & set(e.names)), None)
            if (
                clear is None
                or clear.taken
                or clear.nonfinite
                or clear.hooked
                or window.names.isdisjoint(clear.lost_names)
                or not window.step.fresh
            ):
                continue
            gone = {trail[0] for trail in clear.lost_trails if trail and trail not in used}
            hits += [
                (window, one, clear)
                for one in window.of(Backward)
                if one.number < clear.number
                and one.where is not None
                and one.where not in early
                and (one.where.file, one.where.line) in gone
                and touched.get(one.pass_number, {""}) <= (window.names if one.pass_number in numbers else held)
                and one.pass_number not in for_inputs
                and not (one.retain_graph or one.read_inside)
            ]
        found = {w.number: (w, one, clear) for w, one, clear in hits}
        if len(found) < 2 or len(found) * 2 < len(windows):
            continue
        window, one, clear = next(iter(found.values()))
        yield finding(
            "backward-after-step",
            "warning",
            one.where,
            f"This backward() comes after the step of {view.label(optimizer)}, and {clear.where} clears what it has computed "
            f"before the next one: in {len(found)} of {times(len(windows), 'window')}, and no step ever used its gradient.",
            steps=steps_of([w for w, _, _ in found.values()]),
            cleared_at=clear.where,
        )


BEGUN = 4
"""The first windows, by which it is told whether gradients are written back by hand: what the user's code takes hold of
is looked at so many times alone."""


def _rewritten(window: Window) -> bool:
    """Whether the gradients were written to by hand after the window's last backward."""
    last = max((e.number for e in window.of(Accumulate)), default=-1)
    return any(e.number > last for e in window.of(Edit))


def _new_epoch(window: Window) -> bool:
    """Whether a pass over the data began in this window while gradients were waiting."""
    return any(isinstance(e, DataPass) and e.pending for e in window.events)


def _zeroed_before_step(
    view: View, optimizer: int, place: Place | None, hit: list[Window], windows: list[Window]
) -> Finding:
    return finding(
        "zeroed-before-step",
        "error",
        place,
        f"This line clears what backward() has just computed: {len(hit)} of {times(len(windows), 'step')} of "
        f"{view.label(optimizer)} found {_left(hit)}.",
        steps=steps_of(hit),
        windows=len(windows),
        lost=max((e.lost for w in hit for e in _lost(w, None)), default=0),
    )


def _guarded_by_zeros(
    view: View, optimizer: int, place: Place | None, hit: list[Window], windows: list[Window]
) -> Finding:
    """A guard that sets gradients to zeros, and lets the step go on."""
    return finding(
        "zeroed-before-step",
        "warning",
        place,
        f"Now and then this line clears what backward() has computed, and the step goes on: {len(hit)} of "
        f"{times(len(windows), 'step')} of {view.label(optimizer)} found {_left(hit)}.",
        "Leave the step out as well; or clear with set_to_none=True: a step that finds no gradients does nothing.",
        steps=steps_of(hit),
        windows=len(windows),
        step_taken_at=hit[0].step.where,
    )


def _left(hit: list[Window]) -> str:
    """What steps found whose gradients were cleared, and what that made of them."""
    zeros = [w.step for w in hit if w.step.zeros]
    if not zeros:
        return "no gradients and did nothing"
    moved = any(one.idle_moved for one in zeros)
    if any(one.idle_by is None for one in zeros):
        return f"zeros{', and moved the parameters all the same' if moved else ''}"
    by = list(dict.fromkeys(name for one in zeros for name in one.idle_by or ()))
    if not by:
        return "zeros and did nothing"
    # Of two, one may have had nothing to move them with: where no gradient ever counted, momentum is zeros, too.
    did = "moved" if moved and len(by) == 1 else "could move"
    return f"zeros, so only {' and '.join(by)} {did} the parameters"


def _behind_an_epoch(
    view: View, optimizer: int, pairs: list[tuple[Window, Clear]], windows: list[Window]
) -> Finding | None:
    """Steps behind the loop over a loader, each turn of which clears and goes backward: micro-batches come from no
    loader of their own, and their losses are divided."""
    head = pairs[0][0].step.behind
    begun = [{(e.where.file, e.where.line) for e in w.of(DataPass) if e.where is not None} for w, _ in pairs]
    if head is None or view.divisor(optimizer) > 1 or any((head.file, head.line) not in places for places in begun):
        return None
    gone = sum(e.lost for w, _ in pairs for e in _lost(w, None))
    return finding(
        "step-behind-loop",
        "error",
        pairs[0][0].step.where,
        f"This step stands behind the loop over the data in line {head.line}, which clears before each backward: of "
        f"{gone + sum(w.passes for w, _ in pairs)} backward passes in {times(len(pairs), 'window')}, {gone} "
        f"{'was' if gone == 1 else 'were'} thrown away.",
        steps=steps_of([w for w, _ in pairs]),
        windows=len(windows),
        lost=gone,
    )


def _zeroed_inside(
    place: Place | None, pairs: list[tuple[Window, Clear]], windows: list[Window], gone: int, others: int = 0
) -> Finding:
    """`gone` passes of the steps' own lines were thrown away, and so many of lines that no step uses."""
    kept = sum(w.passes for w, _ in pairs)
    beside = f" So were {times(others, 'pass')} of lines whose gradients no step of it uses." if others else ""
    return finding(
        "zeroed-inside-window",
        "error",
        place,
        f"This line clears in the middle of a window: of {gone + kept} backward passes in {times(len(pairs), 'window')}, "
        f"{gone} {'was' if gone == 1 else 'were'} thrown away and the steps used {kept}.{beside}",
        "Keep those other passes out of these parameters (requires_grad_(False) while they run), and clear once per "
        "window: right after step()."
        if others
        else "",
        steps=steps_of([w for w, _ in pairs]),
        windows=len(windows),
        lost=gone,
        used=kept,
    )


def _in_parts(window: Window, thrown: list[Clear]) -> bool:
    """Whether these clears take parts of the one pass that the step has used the rest of, as layers are frozen by."""
    return len(window.of(Backward)) < 2 and all(set(e.lost_names) < window.names for e in thrown)


def _tail_dropped(
    view: View, optimizer: int, dropped: list[tuple[Window, Clear]], windows: list[Window], usual: int
) -> Iterator[Finding]:
    names = view.owned.get(optimizer, frozenset())
    used_lines = {trail for w in windows for trail in w.step.trails}
    waiting = [sum(t in used_lines for t in trails) for name, trails in view.log.pending.items() if name in names]
    if any(e.how == "assigned" and e.status == "empty" and not names & set(e.names) for e in view.of(Edit)):
        waiting = []  # they were put into another model, as on resuming from a checkpoint that holds them
    left = max(waiting, default=0)
    told = next((w.step for w in windows if w.step.never_last), None)
    if told is not None and view.size(optimizer) >= 2:
        gone = sum(e.lost for w, _ in dropped for e in _lost(w, None))
        cleared = (
            f" {times(gone, 'micro-batch')} never reached a step: {dropped[0][1].where} cleared them."
            if dropped
            else ""
        )
        yield finding(
            "tail-dropped",
            "error" if dropped else "warning",
            told.under,
            f"The last window of a pass over the data is to be stepped where {told.never_last}, and that is never so: the "
            f"counter begins at 0 and ends one below. A window that is not full then is left over.{cleared}",
            f"Ask for {told.never_last.replace(' ==', ' + 1 ==', 1)}.",
            lost=gone,
        )
        return
    if dropped:
        # Thrown away once in a while, right after somebody looked at the gradients: a guard, not an accident.
        guarded = [1 for w, e in dropped if e.taken or view.gave_up(w)]
        if len(guarded) == len(dropped) and len(dropped) * 4 <= len(windows):
            return
        gone = sum(e.lost for w, _ in dropped for e in _lost(w, None))
        gone += left if view.log.finished else 0
        used = sum(w.passes for w in windows)
        yield finding(
            "tail-dropped",
            "error",
            dropped[0][1].where,
            f"{times(gone, 'micro-batch')} of {gone + used} never reached a step: this line cleared them "
            f"{times(len(dropped), 'time')}, when a window was not full.",
            lost=gone,
            used=used,
            steps=steps_of([w for w, _ in dropped]),
            step_stands_under=windows[0].step.under,
        )
        return
    size = view.size(optimizer)
    sizes = {w.micro_batches for w in windows}
    if view.log.finished and not view.log.error and size >= 2 and 0 < left < size and sizes <= {size}:
        yield finding(
            "tail-dropped",
            "warning",
            view.log.pending_at,
            f"The run ended with {times(left, 'micro-batch')} accumulated and no step: windows hold {size}, "
            f"and {left} were left over.",
            lost=left,
            used=sum(w.passes for w in windows),
            step_stands_under=windows[0].step.under,
        )


_ADVERSARY = re.compile(r"(^|[._])(net)?_?d(isc\w*)?\d*[._]|discriminator|critic|adversar", re.IGNORECASE)
"""Names of what is trained against something else."""


def adversary_in_both(view: View) -> Iterator[Finding]:
    """All that one optimizer holds is held by another one as well, which steps in between: of two that are trained
    against each other, one must not move the other; nor a model the weight of a term of its loss, one number."""
    numbers = {one.name for one in view.log.parameters if math.prod(one.shape) == 1}
    adversaries = {
        n: held
        for n, held in view.owned.items()
        if held and n != BY_HAND and (held <= numbers or all(map(_ADVERSARY.search, held)))
    }
    told: set[int] = set()
    for optimizer, held in view.owned.items():
        windows = view.windows.get(optimizer, [])
        if optimizer not in adversaries or len(windows) < 2:
            continue
        for other, theirs in view.owned.items():
            taken = view.windows.get(other, [])
            rest = theirs.difference(*(one for number, one in adversaries.items() if number != other))
            if (
                other in told
                or other == optimizer
                or not held < theirs
                or len(taken) < 2
                or any(_ADVERSARY.search(n) for n in rest)
            ):
                continue
            if any(rest & more for number, more in view.owned.items() if number != other):
                continue  # one for a loss of both, beside one for each
            turns = windows[0].step.number < taken[-1].step.number and taken[0].step.number < windows[-1].step.number
            moved = [w for w in taken if held & set(w.step.names) and not w.step.stale]
            if turns and 2 * len(moved) > len(taken):
                told.add(other)
                made, twin = view.made_at(other), view.made_at(optimizer)
                yield finding(
                    "parameter-in-two-optimizers",
                    "warning",
                    made or moved[0].step.where,
                    f"{view.label(other)} holds all that {view.label(optimizer)} holds, {some(sorted(held))}, beside what it "
                    f"is there for, and has moved it in {times(len(moved), 'step')} by the gradient of another loss.",
                    f"Give {view.label(other)} the parameters of its own network alone.",
                    names=sorted(held)[:10],
                    steps=steps_of(moved),
                    other_one_made_at=twin,
                )


def copied_shallowly(view: View) -> Iterator[Finding]:
    """A model and a shallow copy of it, whose parameters are the same, with an optimizer for each of the two."""
    if not view.log.shallow_copies:
        return
    numbers = [number for number in sorted(view.windows) if number != BY_HAND]
    for first, second in combinations(numbers, 2):
        common = view.owned.get(first, frozenset()) & view.owned.get(second, frozenset())
        moved = [w for n in (first, second) for w in view.windows[n] if common & set(w.step.names)]
        if len({w.optimizer for w in moved}) == 2:
            yield finding(
                "parameter-in-two-optimizers",
                "warning",
                view.log.copied_at or view.made_at(second),
                f"{view.log.shallow_copies[0]} is a shallow copy of another model: its parameters are that one's own. "
                f"{view.label(first)} and {view.label(second)} both move {some(sorted(common))}.",
                "copy.deepcopy(model) has weights of its own.",
                names=sorted(common)[:10],
                other_one_made_at=view.made_at(first),
            )
            return


def held_by_two(view: View) -> Iterator[Finding]:
    """What two optimizers hold and move in turn, each by gradients of its own: that may be meant, for two losses."""
    told = {name for one in adversary_in_both(view) for name in one.evidence["names"]}
    if any(copied_shallowly(view)):
        return
    numbers = [number for number in view.windows if number != BY_HAND]
    for first, second in combinations(sorted(numbers), 2):
        common = view.owned.get(first, frozenset()) & view.owned.get(second, frozenset())
        moved = [[w for w in view.windows[n] if common & set(w.step.names)] for n in (first, second)]
        if not common or common & told or any(len(each) < 3 for each in moved):
            continue
        if any(common & set(w.step.stale) for each in moved for w in each):
            continue
        one, other = moved
        turns = one[0].step.number < other[-1].step.number and other[0].step.number < one[-1].step.number
        if turns:
            yield finding(
                "parameter-in-two-optimizers",
                "info",
                view.made_at(second),
                f"{view.label(second)} and {view.label(first)} both hold {some(sorted(common))}, and step in turn, each on "
                f"gradients of its own: {times(len(other), 'step')} and {len(one)}. Where each has a loss to train them by, "
                "that may be meant; each has its own momentum for them.",
                "If one of the losses is not to train them, detach what they compute for it, or leave them out there.",
                names=sorted(common)[:10],
                other_one_made_at=view.made_at(first),
            )


def used_again(view: View) -> Iterator[Finding]:
    """Steps on gradients that a step had used before."""
    for optimizer, windows in view.windows.items():
        frozen = [w for w in windows if w.step.frozen]
        if frozen:
            names = sorted({name for w in frozen for name in w.step.frozen})
            yield finding(
                "frozen-with-stale-gradient",
                "error",
                frozen[0].step.where,
                f"{some(names)} no longer {'require' if len(names) > 1 else 'requires'} a gradient but still "
                f"{'hold' if len(names) > 1 else 'holds'} an old one: "
                f"{times(len(frozen), 'step')} of {view.label(optimizer)} used it again.",
                names=names[:10],
                steps=steps_of(frozen),
            )
        shared = [w for w in windows if w.step.stale and any(o != optimizer and o >= 0 for o in w.step.used_by)]
        both = [w for w in shared if w.step.used_by and optimizer not in w.step.used_by]
        if both and not view.repeats(optimizer):
            others = sorted({o for w in both for o in w.step.used_by if o != optimizer})
            names = sorted({name for w in both for name in w.step.stale})
            made = view.made_at(optimizer)
            yield finding(
                "parameter-in-two-optimizers",
                "error",
                made or both[0].step.where,
                f"{view.label(optimizer)} steps {some(names)} with a gradient that "
                f"{some(view.label(o) for o in others)} had used already: {times(len(both), 'step')}, the first at "
                f"{both[0].step.where}.",
                names=names[:10],
                steps=steps_of(both),
                stepped_at=both[0].step.where,
            )
        again = [
            w
            for w in windows
            if w.step.stale
            and not w.step.fresh
            and not w.step.frozen
            and w not in shared
            and not w.step.closure_calls
            and not w.step.rewound
        ]
        if again:
            yield finding(
                "stepped-on-used-gradients",
                "error" if len(again) > 1 else "warning",
                again[0].step.where,
                f"{times(len(again), 'step')} of {view.label(optimizer)} used gradients that an earlier step had used, "
                "with no backward() in between.",
                steps=steps_of(again),
            )


def outlived(view: View) -> Iterator[Finding]:
    """Steps on gradients of a graph that was made before the optimizer's last steps."""
    for optimizer, windows in view.windows.items():
        hits: list[tuple[Window, Backward]] = []
        for before, window in zip(windows, windows[1:], strict=False):
            passes = view.passes_of(window)
            made = [view.by_pass.get(one.made_for) if one.made_for is not None else None for one in passes]
            if passes and all(one is not None and one.number < before.step.number for one in made):
                hits.append((window, passes[0]))
        if len(hits) > 1:
            yield finding(
                "step-between-forward-and-backward",
                "warning",
                hits[0][1].where,
                f"This goes backward through a graph that stayed from before the last step of {view.label(optimizer)}, and "
                f"nothing in it was computed with the weights as they are now: {times(len(hits), 'step')} looked at used the "
                "gradient at older weights. torch notices that only where the gradient needs their values.",
                "Run the forward anew after every step, and leave out retain_graph=True.",
                steps=steps_of([w for w, _ in hits]),
            )


def another_stepped(view: View) -> Iterator[Finding]:
    """Steps of a line that never find a gradient, each behind a pass whose gradients went to what another optimizer holds."""
    lines: dict[tuple[Place | None, int], list[tuple[Ending, int | None]]] = {}
    trained: set[int] = set()
    arrived: set[str] = set()
    events = [e for e in view.events if isinstance(e, (Accumulate, Clear, Ending))]
    for at, event in enumerate(events):
        if isinstance(event, Accumulate):
            arrived |= set(event.names)
        elif isinstance(event, Ending) and event.optimizer is not None:
            other = None if _found_some(event) else _held_by_another(view, event.optimizer, arrived)
            turns = takewhile(lambda e: isinstance(e, Ending), events[at + 1 :])
            if any(isinstance(e, Ending) and e.optimizer == other for e in turns):
                other = None  # its turn comes
            trained |= {event.optimizer} if _found_some(event) else set()
            lines.setdefault((event.where, event.optimizer), []).append((event, other))
            arrived = set()
    for (where, number), steps in lines.items():
        other = steps[0][1]
        if len(steps) > 1 and other is not None and number in trained and all(each == other for _, each in steps):
            name = view.label(other)
            yield finding(
                "another-optimizer-stepped",
                "error",
                where,
                f"{view.label(number)} took {times(len(steps), 'step')} here, and found no gradient at any of them: what goes "
                f"backward before them puts gradients on what {name} holds, which is not stepped then.",
                f"Step {name} here.",
                steps=[one.number for one, _ in steps][:20],
            )


def _found_some(event: Ending) -> bool:
    """Whether a step found anything on its parameters, or may have had another way to move them."""
    held = event.fresh or event.names or event.stale or event.skipped
    return bool(held) or event.inside is not None or event.closure_calls is not None


def _held_by_another(view: View, optimizer: int, names: set[str]) -> int | None:
    """The one other optimizer that holds all of these."""
    held = [o for o, own in view.owned.items() if o not in (optimizer, BY_HAND) and names and names <= own]
    return held[0] if len(held) == 1 else None


def with_the_shown(view: View) -> Iterator[Finding]:
    """What each step needs, and is done only where something is shown or saved."""
    one = view.log.shown_with
    if one is not None and len(view.all_windows) > 1:
        what = {"optimizer": "This step", "schedule": "This step of a schedule"}.get(
            one.what, "This update of an average"
        )
        yield finding(
            "done-only-when-shown",
            "warning",
            one.where,
            f"{what} stands under {one.condition!r}, beside what is shown or saved there, and nowhere else: it is left out "
            "wherever that condition does not hold.",
        )


def last_turn_alone(view: View) -> Iterator[Finding]:
    """A step behind the loop over the data, by a loss of what its last turn was given, while others step in each."""
    for optimizer, windows in view.windows.items():
        hits = [w for w in windows if w.step.on_last_of is not None and _others_step(w) > 1]
        if len(hits) < 2 or len(hits) * 4 < 3 * len(windows[1:]):
            continue
        head, others = hits[0].step.on_last_of, min(_others_step(w) for w in hits)
        yield finding(
            "last-turn-alone",
            "warning",
            hits[0].step.where,
            f"This step of {view.label(optimizer)} and its backward() stand behind the loop in line "
            f"{head.line if head is not None else 0}, and their loss is made of what the last turn of that was given: "
            f"{times(len(hits), 'step')}, while what the loop trains took {others} or more before each.",
            steps=steps_of(hits),
            windows=len(windows),
            loop_at=head,
        )


def _others_step(window: Window) -> int:
    """How many steps another optimizer took in a window."""
    taken = Counter(one.optimizer for one in window.of(Step) if one is not window.step)
    return max(taken.values(), default=0)


def returned_at_once(view: View) -> Iterator[Finding]:
    """A loop that adds to something, and returns at the end of its first turn."""
    for one in view.log.returned_at_once:
        if any(view.windows.values()) and has_run(view, one.called_at):
            yield finding(
                "returned-in-first-turn",
                "warning",
                one.where,
                f"This stands in the loop that makes {one.name}, so it returns behind the first turn: what the others would "
                "have added is missing.",
                called_first_at=one.called_at,
            )


def last_alone(view: View) -> Iterator[Finding]:
    """A line behind a loop over parameters, which changes the last of them."""
    one = view.log.last_alone
    if one is not None and any(view.windows.values()):
        yield finding(
            "last-parameter-alone",
            "warning",
            one.where,
            f"This stands behind the loop over parameters ({one.loop.short}) and changes {one.name}, which is the last of "
            "them there: the others stay as they are.",
        )
