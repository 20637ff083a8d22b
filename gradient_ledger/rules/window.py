"""Bookkeeping of accumulation windows: their size, their loss, what moves within one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, pairwise

from gradient_ledger.events import (
    Accumulate,
    Backward,
    Clear,
    DataPass,
    Edit,
    Ending,
    Finding,
    Forward,
    Place,
    StateSaved,
    Step,
)
from gradient_ledger.rules.view import (
    BY_HAND,
    LEAST,
    LOOKED_AT,
    View,
    Window,
    finding,
    is_divided,
    some,
    steps_of,
    times,
)


def sizes(view: View) -> Iterator[Finding]:
    """Windows of another size than meant."""
    for optimizer, windows in view.windows.items():
        whole = [w for w in windows if w.passes and not w.step.stale and not _stale_inside(w)]
        if len(whole) < 2 and not view.log.window:
            continue
        phase = next((p for p in _phases(whole) if _starts_too_short(view, p, _divided_by_all(view, p))), None)
        if phase is not None:
            yield _starts_short(view, phase, _divided_by_all(view, phase))
            continue
        if (size := _largest_divides(view, whole)) and _starts_too_short(view, whole, size):
            yield _starts_short(view, whole, size)
            continue
        if told := _whole_at_first(view, whole):
            yield _more_than_one(whole, told)
            continue
        size = _counted_and_divided(view, whole) or view.size(optimizer) or _divided_for(view, optimizer, whole)
        found = [w.micro_batches for w in whole]
        if not size or not found:
            continue
        if view.log.window == 1:
            yield from _not_single(whole)
            continue
        if size < 2 or set(found) == {1}:
            continue  # a step after every micro-batch is another mistake
        if not view.log.window and (_grow(found) or _are_means([w for w in whole if w.micro_batches != size])):
            # Means have the right length, and yet a first window of one is none that was chosen.
            counts = not _grow(found) and found[0] == 1 and _COUNT.fullmatch(whole[0].step.condition)
            if counts and _starts_too_short(view, whole, size):
                yield replace(_starts_short(view, whole, size), severity="warning")
            continue
        larger = [w for w in whole if w.micro_batches > size]
        smaller = [w for w in whole if w.micro_batches < size]
        across = [w for w in whole if w.micro_batches != size and _over_epochs(w)]
        if _starts_too_short(view, whole, size):
            yield _starts_short(view, whole, size)
        elif larger or across:
            yield from _odd(view, whole, larger, smaller, across, size)
        elif smaller and not _tails(view, whole, smaller):
            if view.log.window or (_gave_up(view, smaller) and any(w.step.passed_over for w in smaller)):
                yield _misaligned(view, whole, smaller, size)


def saved_inside(view: View) -> Iterator[Finding]:
    """Checkpoints that are written while a window is open, of which some micro-batches have gone backward."""
    for optimizer, windows in view.windows.items():
        hits: list[tuple[Window, StateSaved]] = []
        for window in windows:
            passes = view.passes_of(window)
            saved = (e for e in window.of(StateSaved) if e.optimizer == optimizer)
            hits += [(window, e) for e in saved if passes and passes[0].number < e.number < passes[-1].number]
        if len(hits) > 1 and not any(len(set(w.step.trails)) > 1 for w, _ in hits):
            held = [e.pending for _, e in hits]
            yield finding(
                "saved-inside-window",
                "warning",
                hits[0][1].where,
                f"The state of {view.label(optimizer)} was saved here {times(len(hits), 'time')} in the middle of a window, "
                f"with {_list(held)} of its micro-batches in the gradients. These are in no checkpoint: a run that goes on "
                "from one steps without them.",
                pending=held[:10],
                steps=steps_of([w for w, _ in hits]),
            )


def turned_round(view: View) -> Iterator[Finding]:
    """Steps at all micro-batches but each k-th, by the text and by the numbers: the test for a window's end is the wrong
    way round."""
    for optimizer, windows in view.windows.items():
        sizes = [w.passes for w in windows]
        double = [at for at, size in enumerate(sizes) if size == 2]
        gaps = Counter(after - before for before, after in pairwise(double))
        [(gap, often)] = gaps.most_common(1) or [(0, 0)]
        regular = gap > 1 and often >= STAYS - 1 and often * 4 >= 3 * gaps.total() and set(sizes) <= {1, 2, 3}
        others = any(one.optimizer != optimizer for w in windows for one in w.of(Ending))
        if view.log.window or not regular or others or any(w.step.turned_at is None for w in windows):
            continue
        yield finding(
            "window-misaligned",
            "error",
            windows[0].step.turned_at,
            f"{view.label(optimizer)} steps wherever this remainder is not 0: of {gap + 1} micro-batches all but one end a "
            f"window, and that one waits for the next. The steps used {_list(sizes)}.",
            f"Turn the test round: a window of {gap + 1} ends where the remainder is 0.",
            sizes=sizes[:40],
            window=gap + 1,
            step_taken_at=windows[0].step.where,
        )


def _phases(windows: list[Window]) -> list[list[Window]]:
    """The windows of each line that steps, where one line took over from another for good: in phases of training."""
    runs = [list(run) for _, run in groupby(windows, key=lambda w: w.step.where)]
    lines = {run[0].step.where for run in runs}
    return runs if len(lines) == len(runs) > 1 else []


def _divided_by_all(view: View, windows: list[Window]) -> int:
    """By what all losses of some windows are divided, if that is the size of most of these."""
    size = _share_of_all(view, windows)
    return size if 2 * sum(w.micro_batches == size for w in windows) > len(windows) and size >= LEAST - 1 else 0


def _largest_divides(view: View, windows: list[Window]) -> int:
    """The size of the largest windows, if all losses are divided by that, or by that and a mean of so many summands:
    epochs may be so short that few windows are whole."""
    size = max((w.micro_batches for w in windows), default=0)
    by = _share_of_all(view, windows) if size >= LEAST - 1 else 0
    return size if by and by % size == 0 else 0


def _share_of_all(view: View, windows: list[Window]) -> int:
    by = {_share_of(one) for w in windows for one in view.passes_of(w)}
    return by.pop() if len(by) == 1 else 0


def _share_of(one: Backward) -> int:
    """By what a loss is divided as a whole, 0 where that is by nothing, or by several numbers."""
    return one.quotient or int(one.divisor or 0) or (one.shares[0] if len(one.shares) == 1 else 0)


def _whole_at_first(view: View, windows: list[Window]) -> int:
    """How many passes the first window holds, where each of its losses is divided by that, and all later windows hold
    the same number of passes more: their shares make up more than one."""
    looked_at = [w for w in windows if all(n <= LOOKED_AT for n in w.step.pass_numbers)]
    if not looked_at:
        return 0
    first, *later = map(view.passes_of, looked_at)
    size = len(first)
    more = {w.micro_batches - size for w in windows[1:]}
    if size < 2 or len(later) < 2 or len(more) != 1 or not 0 < max(more) < size or view.log.window:
        return 0
    shares = [sum(1 / (_share_of(one) or 1) for one in passes) for passes in (first, *later)]
    whole = {_share_of(one) for one in first} == {size}
    return size if whole and all(share > 1.01 for share in shares[1:]) else 0


def _more_than_one(windows: list[Window], size: int) -> Finding:
    sizes = [w.micro_batches for w in windows]
    return finding(
        "tail-leaks-into-next-epoch",
        "error",
        _condition(windows[1]),
        f"The first window holds {size} passes, and each of their losses is divided by {size}. The {len(windows) - 1} after "
        f"it hold {sizes[1]}, and the shares of their losses make up more than one: what is left over behind a whole window "
        "is added to the next one.",
        sizes=sizes[:40],
        window=size,
        steps=steps_of(windows[1:]),
    )


STAYS = 3
"""Windows of one size, one after the other, from which on the size is one that was chosen."""


def _grow(sizes: list[int]) -> bool:
    """Whether windows change their size for good, each time: a batch that grows as training goes on."""
    runs = _runs(sizes[:-1])  # the last one may have been cut short
    return len(runs) > 1 and len({size for size, _ in runs}) == len(runs) and all(often >= STAYS for _, often in runs)


def _are_means(odd: list[Window]) -> bool:
    """Whether the gradients of windows were divided by how many passes each holds, as far as that was measured."""
    products = [factor * w.passes for w in odd for e in w.of(Edit) for factor in e.factors]
    return bool(products) and all(abs(product - 1) < 1e-3 for product in products)


def _runs(sizes: list[int]) -> list[tuple[int, int]]:
    """Equal sizes that follow each other: the size, and how often."""
    return [(size, len(list(run))) for size, run in groupby(sizes)]


def _divided_for(view: View, optimizer: int, windows: list[Window]) -> int:
    """The size that the losses are divided by, where windows have all sizes, up to larger ones than that, and each step
    waits for a count. A count of the passes would come to the same number each time."""
    by = view.divisor(optimizer)
    counted = all("%" in w.step.condition for w in windows)
    larger = [w for w in windows if w.micro_batches > by and not _over_epochs(w)]
    return by if by >= LEAST and counted and len(larger) > 1 else 0


def _counted_and_divided(view: View, windows: list[Window]) -> int:
    """The size that every step counts to and every loss, of one line, is divided by, whatever the windows hold."""
    told = {w.step.counted_to for w in windows if w.step.counted_to}
    alone = not view.log.window and len(told) == 1 and all(w.step.lines == 1 for w in windows)
    return told.pop() if alone and told == {_share_of_all(view, windows)} else 0


def _not_single(windows: list[Window]) -> Iterator[Finding]:
    """Steps on several micro-batches where one was meant.

    Several losses of one batch share a forward, or have a line each. Where each has a forward of its own, only a count
    that the step waits for tells that they are not: else it is a note.
    """
    larger = [w for w in windows if w.micro_batches > 1 and w.most_forwards() in (w.micro_batches, 2 * w.micro_batches)]
    if larger:
        sure = all("%" in w.step.condition for w in larger)
        sizes = [w.micro_batches for w in larger]
        yield finding(
            "window-misaligned",
            "error" if sure else "info",
            _condition(larger[0]),
            f"One micro-batch was meant for a step; {times(len(larger), 'step')} used {_list(sizes)}, each with a forward "
            f"and a backward pass of its own{'' if sure else ', if these are not several losses of one batch'}.",
            f"Step after every micro-batch, or say --window {max(sizes)} if that many are meant.",
            sizes=sizes[:40],
            window=1,
            steps=steps_of(larger),
        )


def _over_epochs(window: Window) -> bool:
    """Whether a new pass over the data began while gradients of the last one were waiting, and was no evaluation's."""
    return any(e.pending and not _is_evaluation(window, e) for e in window.of(DataPass))


def _is_evaluation(window: Window, data: DataPass) -> bool:
    """Whether the first forward of a pass over the data is not to be trained."""
    following = next((e for e in window.of(Forward) if e.number > data.number), None)
    return following is not None and not (following.grad and following.training)


def _stale_inside(window: Window) -> bool:
    return any(not window.names.isdisjoint(e.onto_used) for e in window.of(Accumulate))


def _odd(
    view: View, windows: list[Window], larger: list[Window], smaller: list[Window], across: list[Window], size: int
) -> Iterator[Finding]:
    sizes = [w.micro_batches for w in windows]
    loaders = bool(view.of(DataPass))
    excess = {w.micro_batches - size for w in larger}
    at = [windows.index(w) for w in larger]
    regular = len({b - a for a, b in zip(at, at[1:], strict=False)}) <= 1
    # What is left over at the end of an epoch makes no window larger that lies within one, nor the very first, nor all.
    leaks = (
        bool(across) and all(w in across for w in larger)
        if loaders
        else len(excess) == 1
        and max(excess) < size
        and regular
        and not smaller
        and larger not in (windows[:1], windows)
    )
    place = _condition((larger or across)[0])
    if leaks and not _gave_up(view, larger):
        sure = loaders or bool(view.log.window)
        yield finding(
            "tail-leaks-into-next-epoch",
            "error" if sure else "warning",
            place,
            f"Windows of {size} were meant; the steps used {_list(sizes)}: micro-batches left over at the end of an "
            f"epoch were added to the next one's first window{'' if sure else ', as far as the sizes alone can tell'}.",
            sizes=sizes[:40],
            window=size,
            steps=steps_of(across or larger),
        )
    elif (
        view.log.window
        or _gave_up(view, larger + smaller)
        or any(_skips_its_end(view, w) for w in larger)
        or (larger and view.divisor(larger[0].optimizer) == size)
    ):
        yield _misaligned(view, windows, larger + smaller, size)


def _starts_too_short(view: View, windows: list[Window], size: int) -> bool:
    """Whether the first window is short, and no other that is neither the first nor the last one of an epoch.

    A first window that is short by intention is divided by its own size, or steps at a line of its own.
    """
    first = windows[0]
    if len(windows) < 3 or first.micro_batches >= size or (first.number != 0 and not first.step.restored):
        return False
    epochs = {w.number for w in windows if any(e.number > _begin(w) for e in w.of(DataPass)) or w is first}
    ends = {number - 1 for number in epochs} | {windows[-1].number}
    edges = epochs | ends
    if any(w.micro_batches != size and w.number not in edges for w in windows) and not _counts_from_zero(windows, size):
        return False
    line = {w.step.where for w in windows if w is first or w.number not in ends}  # what is left over has its own step
    alike = {one.divisor for one in view.looked_at(windows)}
    begun_before = any(e.lost for e in first.of(Clear)) or any(e.how == "assigned" for e in first.of(Edit))
    return len(line) == 1 and len(alike) == 1 and not begun_before


def _counts_from_zero(windows: list[Window], size: int) -> bool:
    """Whether each short window holds one pass, as the first does, or comes before one that does, as what is left over at
    the end of an epoch, and steps where a count begins anew at 0, by the text: the epochs of a loader that is none of
    torch's."""
    held = [w.micro_batches for w in windows]
    odd = [at for at, number in enumerate(held) if number != size]
    begins = all(held[at] == 1 or held[at + 1 : at + 2] in ([1], []) for at in odd)
    return begins and all(_COUNT.fullmatch(windows[at].step.condition) for at in odd)


_COUNT = re.compile(r"\(?([\w.]+)\)? % ([\w.]+) == 0( or .*)?")
"""A condition that counts: what, and up to what; and, it may be, that this is the last one."""


def _begin(window: Window) -> int:
    return window.events[0].number if window.events else window.step.number


def _starts_short(view: View, windows: list[Window], size: int) -> Finding:
    first, sizes = windows[0], [w.micro_batches for w in windows]
    seen = f"Windows of {size} {_usual(size, sizes)}; the steps used {_list(sizes)}: the first one holds {first.micro_batches}"
    if first.step.restored:
        return finding(
            "resumed-inside-window",
            "error",
            first.step.restored,
            f"{seen}. The state of {view.label(first.optimizer)} was loaded from a checkpoint here: the gradients of the "
            "micro-batches that came before the checkpoint are not in it.",
            sizes=sizes[:40],
            window=size,
        )
    counter = _COUNT.fullmatch(first.step.condition)
    remedy = f"Test ({counter[1]} + 1) % {counter[2]} == 0: a count that begins at 0 is one behind." if counter else ""
    return finding(
        "window-starts-short",
        "error",
        _condition(first),
        f"{seen}. The test that ends a window is true before the first one is full.",
        remedy,
        sizes=sizes[:40],
        window=size,
    )


def _usual(size: int, sizes: list[int]) -> str:
    return "are usual" if 2 * sizes.count(size) > len(sizes) else "were meant"


def _misaligned(view: View, windows: list[Window], odd: list[Window], size: int) -> Finding:
    sizes = [w.micro_batches for w in windows]
    guarded = [w for w in odd if w.micro_batches > size and _skips_its_end(view, w) and w is not windows[0]]
    if guarded:
        return finding(
            "guard-skips-window-end",
            "error",
            guarded[0].step.passed_over,
            f"Windows of {size} {_usual(size, sizes)}; the steps used {_list(sizes)}: a batch that is given up here can be the last "
            "of its window, and the step is then left out with it.",
            sizes=sizes[:40],
            window=size,
            steps=steps_of(guarded),
        )
    return finding(
        "window-misaligned",
        "error" if view.log.window else "warning",
        _condition(odd[0]),
        f"Windows of {size} were meant; the steps used {_list(sizes)}: the test that ends a window counts something "
        "other than the backward passes.",
        sizes=sizes[:40],
        window=size,
        steps=steps_of(odd),
    )


def _gave_up(view: View, windows: list[Window]) -> bool:
    return any(map(view.gave_up, windows))


def _skips_its_end(view: View, window: Window) -> bool:
    """Whether a line above the condition of a step passes over that: once a batch has run, or where a count of all
    batches decides."""
    return window.step.passed_over is not None and (view.gave_up(window) or "%" in window.step.condition)


def _tails(view: View, windows: list[Window], smaller: list[Window]) -> bool:
    """Whether the small windows are the last of their epochs, which is how it should be."""
    at = [windows.index(w) for w in smaller]
    if bool(view.of(DataPass)):
        ends = {
            w.number
            for w in windows
            if w is windows[-1]
            or any(isinstance(e, DataPass) for e in windows[windows.index(w) + 1].events)
            or not windows[windows.index(w) + 1].events
        }
        return all(w.number in ends for w in smaller)
    if len({w.micro_batches for w in smaller}) > 1 or len(smaller) == len(windows) > 1:
        return False
    gaps = [b - a for a, b in zip([-1, *at], at, strict=False)]
    return len(set(gaps)) == 1 and (at[-1] == len(windows) - 1 or not view.log.finished)


def _condition(window: Window) -> Place | None:
    """The `if` that decides when to step, where the step stands under one: that is the line to mend."""
    return window.step.under or window.step.where


def _list(sizes: list[int], most: int = 10) -> str:
    """Sizes in a sentence; of many, those that follow each other are counted: a first change must not be cut off."""
    parts = [str(size) for size in sizes]
    if len(sizes) > most:
        parts = [f"{often} times {size}" if often > 1 else str(size) for size, often in _runs(sizes)]
    return ", ".join([*parts[:most], *(["…"] if len(parts) > most else [])])


def _shared_alike(passes: list[Backward]) -> bool:
    """Whether each loss of a window that was looked at is divided by their number: what they share goes backward once,
    all in all."""
    size, looked_at = len(passes), [one for one in passes if one.pass_number <= LOOKED_AT]
    return size > 1 and all(size in (*one.shares, one.quotient, one.divisor) for one in looked_at)


def losses(view: View) -> Iterator[Finding]:
    """Losses that go backward more than once."""
    seen: set[tuple[bool, Place | None]] = set()
    for window in view.all_windows:
        numbers = window.step.pass_numbers
        for number in numbers:
            event = view.by_pass.get(number)
            earlier = list(event.again if event else ())
            counted = [n for n in earlier if n in numbers]
            if event is None or not earlier:
                continue
            before = view.by_pass.get(earlier[0])
            same = before is not None and before.where == event.where
            same_loss = event.same_root in earlier
            if not counted and (not same or same_loss):
                continue
            if same and set(earlier) <= set(event.again_partly) and _shared_alike(view.passes_of(window)):
                continue
            if (same, event.where) in seen:
                continue
            seen.add((same, event.where))
            if same:
                yield finding(
                    "running-loss-backward",
                    "error",
                    event.where,
                    f"This backward() goes through the losses of {times(len(earlier), 'earlier pass')} again: "
                    "the running sum still carries their graphs, so early micro-batches count several times.",
                    passes=[*earlier, number],
                )
            else:
                yield finding(
                    "loss-backward-twice",
                    "error",
                    event.where,
                    f"The loss of {before.where if before else 'an earlier backward'} is part of this one, and goes "
                    "backward a second time: its gradient is counted twice.",
                    passes=[*earlier, number],
                    first_backward_at=before.where if before else None,
                )


def hooks(view: View) -> Iterator[Finding]:
    """Gradient hooks that are registered again and again."""
    for optimizer, windows in view.windows.items():
        growing = [w for w in windows if w.step.hooks]
        often = len(growing) * 2 >= min(len(windows), 12)
        again = all(w.step.hooks_scale for w in growing)
        if len(growing) >= 3 and (often or len({w.step.hooked_at for w in growing}) == 1):
            counts = [max(w.step.hooks.values()) for w in growing]
            if counts != sorted(set(counts)):
                continue
            yield finding(
                "hook-registered-every-iteration",
                # Now and then: pruning masks, say, may be put on again; a factor may not.
                "error" if often else "warning" if again else "info",
                growing[-1].step.hooked_at,
                f"At the steps of {view.label(optimizer)} a parameter carries {_list(counts)} gradient hooks: each of "
                "them changes the gradient once more.",
                counts=counts[:20],
            )


def late_hooks(view: View) -> Iterator[Finding]:
    """Hooks that were put on in a loop, and find the last value of its variable when they run."""
    for one in view.log.late_hooks if any(view.windows.values()) else ():
        yield finding(
            "hooks-read-the-last-value",
            "warning",
            one.where,
            f"{one.hooks} hooks were put on here while {one.variable} had {one.values} values. Each looks it up when it "
            "runs, which is at a later backward(): all of them then find the last one.",
            variable=one.variable,
            hooks=one.hooks,
        )


def means(view: View) -> Iterator[Finding]:
    """Notes on how the losses of a window add up; only a reference can tell for certain."""
    for optimizer, windows in view.windows.items():
        if (branch := _divided_in_other_branch(view, windows)) is not None:
            yield branch
            continue
        summed = []
        known = 0
        quotients = {p.quotient for w in windows[:LOOKED_AT] for p in view.passes_of(w)}
        by_size = len(quotients) > 1 and 0 not in quotients  # as the number of rows is, that of the last batch another
        for window in windows:
            passes = view.passes_of(window)
            known += any(p.reduction is not None or p.bare or p.means or p.divisor is not None for p in passes)
            known += any(p.counts for p in passes) or by_size
            touched = window.of(Edit) or window.step.assigned or window.step.hooks
            quiet = not touched and not view.log.hooks_scale
            # What is weighted and summed is a mean as well, but it takes the loss that is shown, or the window's size
            # that the text has at hand for nothing, to say so.
            at_hand = window.step.unread is not None
            weighed = window.step.reported is not None or at_hand
            # One count for all of its passes may be that of the window, which is as it should be.
            counted = len({p.counts for p in passes}) > 1
            plain = all(
                (
                    p.reduction == "mean"
                    or (p.means and p.quotient != window.micro_batches)
                    or (weighed and p.bare)
                    or ((counted or at_hand) and p.counts)
                    or (by_size and p.quotient != window.micro_batches and not p.told_divided)
                )
                and p.divisor is None
                and not p.gradient
                for p in passes
            )
            if window.micro_batches > 1 and passes and quiet and plain and window.step.reference is None:
                summed.append(window)
        if summed and len(summed) * 2 >= known:
            k, shown = summed[0].micro_batches, summed[0].step.reported
            gathered = [w for w in summed if _gathers(w) and view.log.window in (None, w.micro_batches)]
            told = f" The loss that is shown is divided, at {shown}." if shown else ""
            unread = summed[0].step.unread
            if not told and unread is not None:
                told = f" The size of a window is at hand as {unread[0]} ({unread[1].short}), and nothing reads that."
            if not told and len(gathered) == len(summed):
                under = f" under {summed[0].step.condition!r}" if "%" in summed[0].step.condition else ""
                told = f" By its text the step{under} is one for all of them."
            beside = next((o for o in view.windows if o not in (optimizer, BY_HAND) and _divides(view, o, k)), None)
            if not told and beside is not None:
                told = f" Those of {view.label(beside)}, in windows of {k} as well, are divided by {k}."
            counted = by_size or any(p.counts for p in view.passes_of(summed[0]))
            if counted and not told:
                continue
            kind = "divided by a count of its own" if counted else "a mean"
            yield finding(
                "loss-not-divided",
                "warning" if told else "info",
                summed[0].step.last_pass_at,
                f"Each of the {k} losses of a window is {kind}, and nothing divides by {k}: if they are micro-batches "
                f"of one batch, the gradient is {k} times its gradient.{told}",
                f"Call (loss / {k}).backward(), or weight each loss by its share; a reference= would settle it.",
                window=k,
            )


def _divided_in_other_branch(view: View, windows: list[Window]) -> Finding | None:
    """Windows whose losses nothing divides, where the other branch of a condition divides its own."""
    found = [w for w in windows if w.micro_batches > 1 and w.step.reference is None and view.passes_of(w)]
    found = [w for w in found if all(p.divided_beside for p in view.passes_of(w))]
    found = [w for w in found if not (w.of(Edit) or w.step.assigned)]  # gradients may be divided in its place
    if len(found) < 2 or view.log.hooks_scale:
        return None
    k, one = found[0].micro_batches, view.passes_of(found[0])[-1]
    return finding(
        "loss-not-divided",
        "warning",
        one.where,
        f"Nothing divides the {k} losses of a window here, and the other branch divides its own by "
        f"{one.divided_beside_by}: the gradient is {k} times what it is there.",
        f"Divide here, too: (loss / {one.divided_beside_by}).backward().",
        window=k,
        divided_at=one.divided_beside,
    )


def _divides(view: View, optimizer: int, by: int) -> bool:
    """Whether the first window of an optimizer holds so many passes, and each of their losses was divided by that."""
    passes = view.passes_of(view.windows[optimizer][0]) if view.windows[optimizer] else []
    return len(passes) == view.size(optimizer) == by and all(is_divided(one, by) for one in passes)


def _gathers(window: Window) -> bool:
    """Whether a window is one of micro-batches by the text of its step, all from one line, and nobody steps meanwhile."""
    others = any(isinstance(e, Step) and e.optimizer != window.optimizer for e in window.events)
    return window.step.gathers and len(set(window.step.trails)) == 1 and not others


FIRST = 3
"""Windows whose condition is asked what it counts to: it is read at the first steps alone."""


def forwards(view: View) -> Iterator[Finding]:
    """Several forwards of one call and one backward: all of them in its loss, or all but the last for nothing."""
    for windows in view.windows.values():
        several = [(w, one) for w in windows for one in view.passes_of(w) if one.forwards > 1 and one.held is not None]
        several = [(w, one) for w, one in several if w.passes == 1 and not w.step.closure_calls]
        shallow = [(w, one) for w, one in several if (one.held or 0) < one.forwards]
        counts = {one.forwards for _, one in shallow}
        if told := list(_last_ones(view, windows)):
            yield from told
        elif len(shallow) > 1 and len(shallow) * 2 >= min(len(windows), LOOKED_AT) and _same_but_at_ends(shallow):
            count = max(counts)
            # The best of several, or what warms up a state, is chosen on purpose; a division by their number is not,
            # nor is a clear for each of them, or a step that counts to their number.
            meant = all(
                count in (one.divisor, one.last_of, one.quotient, w.step.counted_to) or len(w.of(Clear)) >= count
                for w, one in shallow[:FIRST]
            )
            meant = meant or shallow[0][1].gathered  # nor is a loop over the parts of a batch, by its name
            # A method that several lines call, as a critic for a target, an advantage and a loss, is no loop.
            if meant or shallow[0][1].looped:
                yield finding(
                    "micro-batches-without-backward",
                    "warning" if meant else "info",
                    shallow[0][1].last_at or shallow[0][1].where,
                    f"One call of the model ran {count} times before each backward(), and the loss holds "
                    f"{shallow[0][1].held} of them: what the others computed was thrown away, in "
                    f"{times(len(shallow), 'window')}.",
                    forwards=count,
                    steps=steps_of([w for w, _ in shallow]),
                )
        held = [one for _, one in several if (one.held or 0) >= one.forwards and one.piled]
        if held:
            yield finding(
                "summed-loss-keeps-graphs",
                "info",
                held[0].where,
                f"{times(held[0].forwards, 'forward pass')} and one backward per step: the numbers are right, but the "
                f"graphs of all {held[0].forwards} are in memory at once.",
                forwards=held[0].forwards,
            )
            continue
        summed = [one for w in windows for one in view.passes_of(w) if one.window_sum > 1 and w.passes == 1]
        if summed:
            yield finding(
                "summed-loss-keeps-graphs",
                "info",
                summed[0].where,
                f"A loop adds up losses, and one backward per step goes through them all: the numbers are right, but "
                f"the graphs of all are in memory at once (each weight is at least {summed[0].window_sum} times in it).",
                uses=summed[0].window_sum,
            )


def _same_but_at_ends(shallow: list[tuple[Window, Backward]]) -> bool:
    """Whether as many forwards ran before each of these passes, but for a few with less: the last of an epoch."""
    counts = Counter(one.forwards for _, one in shallow)
    [(usual, often)] = counts.most_common(1)
    return max(counts) == usual and often * 4 >= 3 * counts.total()


def without_backward(view: View) -> Iterator[Finding]:
    """Steps that find nothing, since nothing went backward, though the model had run by the lines of the other steps."""
    for optimizer, windows in view.windows.items():
        full = [w for w in windows if w.step.fresh]
        usual = set.intersection(*map(_trained_at, full)) if full else set()
        if optimizer == BY_HAND or len(full) < 2 or not usual:
            continue
        bare = [w for w in windows if w.number > full[0].number and not (w.step.fresh or w.skipped or w.of(Backward))]
        idle = [w for w in bare if usual <= _trained_at(w)]
        # What several steps have computed may go backward together.
        together = any((p.held or 0) > len(w.of(Forward)) for w in full for p in view.passes_of(w))
        if len(idle) * 2 < len(windows) or together:
            continue
        gaps = Counter(later.number - one.number for one, later in pairwise(full))
        (gap, often), *_ = gaps.most_common(1)
        regular = gap > 1 and often * 4 >= 3 * len(full[1:])
        source = view.passes_of(full[0])[-1]
        yield finding(
            "steps-without-backward",
            "warning" if regular else "info",
            source.where,
            f"{len(idle)} of {times(len(windows), 'step')} of {view.label(optimizer)} found no gradient and did nothing: this "
            f"backward() ran before {f'one in {gap}' if regular else f'{len(full)} of them'}, while the lines that compute its "
            "loss ran before each.",
            ""
            if regular
            else "Call backward() for each loss that is to train something; or step where there is a gradient.",
            steps=steps_of(idle),
            step_taken_at=full[0].step.where,
        )


def _trained_at(window: Window) -> set[Place | None]:
    """The lines at which a model ran to be trained."""
    return {e.where for e in window.of(Forward) if e.grad and e.training}


def _last_ones(view: View, windows: list[Window]) -> Iterator[Finding]:
    """The last of several losses, divided as if it were their sum, by the text."""
    hits = [(w, one) for w in windows for one in view.passes_of(w) if one.last_at is not None]
    if len(hits) > 1:
        one = hits[0][1]
        yield finding(
            "micro-batches-without-backward",
            "warning",
            one.last_at,
            f"A loop computes {one.last_of} losses before this backward(), and it goes through the last of them alone, "
            f"divided by {one.last_of} as their sum would be: what the others computed was thrown away, in "
            f"{times(len(hits), 'pass')} looked at.",
            losses=one.last_of,
            steps=steps_of([w for w, _ in hits]),
            backward_at=one.where,
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
            event.moved_at or event.where,
            f"Between two backward passes of one window the weights {some(sorted(window.names & set(event.moved)))} were "
            f"changed, and the second gradient was added to the first, in {times(len({id(w) for w, _ in hits}), 'window')}: the "
            "sum is the gradient at neither place.",
            steps=steps_of(list({w.number: w for w, _ in hits}.values())),
        )


def batch_norms(view: View) -> Iterator[Finding]:
    """Batch statistics, which accumulation does not average."""
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
