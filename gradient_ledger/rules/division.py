"""What the graph of a loss tells of its division: by which constant, and what was left out of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from gradient_ledger.events import Accumulate, Backward, DataPass, Edit, Finding, Place, SummedRows
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

TOTALS = 4
"""Steps at which the factors of a hand-made division are known."""


def stepped_every_time(view: View) -> Iterator[Finding]:
    """Losses divided as for a window of several micro-batches, and a step after each of them."""
    for optimizer, windows in view.windows.items():
        if optimizer == BY_HAND or len(windows) < 2 or any(w.micro_batches != 1 for w in windows):
            continue
        if any(sum(e.where == w.step.last_pass_at for e in w.of(Backward)) > 1 for w in windows):
            continue  # sharded gradients stand elsewhere until the last of several passes
        inside = all(w.step.inside_backward for w in windows)
        by = view.log.window or view.divisor(optimizer) or _named_size(view, windows)
        sure = view.log.window is not None
        if by < (2 if sure else LEAST) or any(w.step.stale or w.step.mixed for w in windows):
            continue
        if not sure and all(one.rows_again == by for one in view.looked_at(windows)):
            continue  # `rows_again` tells what it is
        meant = f"windows of {by} were meant" if sure else f"each loss is divided by {by}, as in a window of {by}"
        yield finding(
            "optimizer-in-backward-accumulates" if inside else "step-every-micro-batch",
            "error" if sure else "warning",
            windows[0].step.where,
            f"{view.label(optimizer)} steps {'inside backward(), ' if inside else ''}after every micro-batch: "
            f"{times(len(windows), 'step')} on 1 backward pass each, where {meant}.",
            sizes=[w.micro_batches for w in windows][:20],
            window=by,
        )


def _named_size(view: View, windows: list[Window]) -> int:
    """The most that losses are divided by which the text divides by the size of a window, by its name; else 0."""
    looked_at = view.looked_at(windows)
    if not all(one.for_windows for one in looked_at):
        return 0
    return max((by for one in looked_at for by in one.shares[:1]), default=0)


SINGLES = 4
"""Windows of one pass, after a whole one, from which on the count that they waited for is not seen to begin anew."""


def never_reset(view: View) -> Iterator[Finding]:
    """A first window as large as the losses are divided for, and a step after every micro-batch from then on."""
    for optimizer, windows in view.windows.items():
        by = view.divisor(optimizer)
        found = [w.micro_batches for w in windows]
        if view.log.window or by < LEAST or len(found) <= SINGLES or found[0] != by or set(found[1:]) != {1}:
            continue
        if len({w.step.where for w in windows}) > 1 or any(w.step.stale or w.step.mixed for w in windows):
            continue
        first = windows[0].step
        yield finding(
            "step-every-micro-batch",
            "warning",
            first.passed_over or first.under or first.where,
            f"The first window of {view.label(optimizer)} holds {by} backward passes, as many as each loss is divided by; "
            f"the {len(found) - 1} after it hold 1 each. What counts to {by} seems not to be set back after a step.",
            "Set the count back to 0 after the step, or test count % k == 0.",
            sizes=found[:20],
            window=by,
        )


def by_itself(view: View) -> Iterator[Finding]:
    """A loss that is handed to its own backward as the gradient."""
    hits = [e for e in view.of(Backward) if e.by_itself]
    for where in dict.fromkeys(e.where for e in hits):
        mine = [e for e in hits if e.where == where]
        yield finding(
            "loss-as-gradient",
            "warning",
            where,
            f"{times(len(mine), 'backward pass')} began here with the loss itself, or a multiple of it, as the gradient: "
            "each gradient is multiplied by that, and what is trained is the loss's square.",
            passes=len(mine),
        )


def twice(view: View) -> Iterator[Finding]:
    """Losses divided by the square of the window's size, as where a function and its caller both divide."""
    for optimizer, windows in view.windows.items():
        size = view.size(optimizer)
        plain = [w for w in windows if w.passes == size and not w.of(Edit) and not w.step.assigned and not w.step.hooks]
        known = any(w.step.reference is not None for w in windows)  # then numbers tell
        looked_at = [one for w in plain for one in view.passes_of(w) if one.pass_number <= LOOKED_AT]
        # By two, and by two again, may be a mean of two things, halved: then the text has to tell.
        told_by_text = bool(looked_at) and all(one.shared_by or one.part_again for one in looked_at)
        if size < (LEAST - 1 if told_by_text else LEAST) or len(plain) * 2 < len(windows) or known:
            continue
        by = view.divisor(optimizer)
        in_part = {one.part_again for one in looked_at if one.quotient == size}
        if len(in_part) == 1 and all(one.quotient == size for one in looked_at) and (part := in_part.pop()) is not None:
            yield finding(
                "divided-twice",
                "warning",
                part,
                f"A summand of the loss is divided by {size} here, and the sum by {size} again: beside the others it counts "
                f"one part in {size}.",
                f"Divide the sum alone: (a + b) / {size}.",
                window=size,
            )
            continue
        again = bool(looked_at) and all(one.shares.count(size) > 1 for one in looked_at)
        if by != size * size and not again:
            continue
        told = f"Each mean loss is divided by {by}" if by else f"Each loss is divided by {size}, and by {size} again"
        yield finding(
            "divided-twice",
            "warning",
            next((one.shared_at for one in looked_at if one.shared_at), plain[0].step.last_pass_at),
            f"{told}, and a window of {view.label(optimizer)} has {size} backward passes: {size} times {size} is "
            f"{size * size}.",
            window=size,
            divisor=size * size,
        )


def _by_line(view: View) -> dict[Place | None, list[Backward]]:
    """The passes that were looked at, by their line."""
    lines: dict[Place | None, list[Backward]] = {}
    for one in view.of(Backward):
        if one.pass_number <= LOOKED_AT:
            lines.setdefault(one.where, []).append(one)
    return lines


def counted_again(view: View) -> Iterator[Finding]:
    """A mean over the targets that is divided by their number once more, by the numbers: they are not the same each time."""
    for where, passes in _by_line(view).items():
        counts = [one.counted_again for one in passes]
        if all(counts) and len(set(counts)) > 1:
            yield finding(
                "divided-twice",
                "warning",
                where,
                f"The cross-entropy that goes backward here is a mean over its targets, and is divided by their number again, "
                f"{counts[0]} and {next(n for n in counts if n != counts[0])} of them: a batch with more of them counts less.",
                "Leave one of the two out: the mean, or reduction='sum' and the division.",
                counts=counts[:10],
            )


def rows_again(view: View) -> Iterator[Finding]:
    """A mean over the rows of a batch that is divided by their number once more, by the text and by the numbers."""
    together = {number: w.passes for w in view.all_windows for number in w.step.pass_numbers}
    for where, found in _by_line(view).items():
        # Of passes that no step used nobody knows how many were to make a window.
        passes = [one for one in found if one.pass_number in together]
        rows = sorted({one.rows_again for one in passes})
        told = all(one.counted_again for one in passes) and len(rows) > 1  # by `counted_again`
        if not passes or 0 in rows or told or any(together[one.pass_number] == one.rows_again for one in passes):
            continue
        yield finding(
            "divided-twice",
            "warning",
            passes[0].rows_again_at or where,
            "The loss that goes backward is a mean already, and this line divides it by the number of its rows again, by "
            f"{' or '.join(str(one) for one in rows[:2])}: the gradient of a batch is that much smaller.",
            "Leave one of the two out: the mean, or reduction='sum' and the division.",
            rows=rows[:10],
            backward_at=where,
        )


def window_counted(view: View) -> Iterator[Finding]:
    """Sums over a count of the whole window, its tokens say, that are divided by the number of micro-batches as well."""
    for optimizer, windows in view.windows.items():
        size = view.size(optimizer)
        whole = [view.passes_of(w) for w in windows if w.passes == size > 1]
        looked_at = [passes for passes in whole if all(one.pass_number <= LOOKED_AT for one in passes)]
        counts = [_count_of_all(passes, size) for passes in looked_at]
        # Shared by the micro-batches of each window, and another one in the next; or more than one of them sums over.
        other = next((n for n in counts if n != counts[0]), 0.0)
        most = max((one.summed_entries or math.inf for passes in looked_at for one in passes), default=0)
        alone = all(one.sync is None for passes in looked_at for one in passes)  # else it may count all ranks
        if len(counts) < 3 or not all(counts) or not (other or (alone and min(counts) > most)):
            continue
        seen = f"and {other:g} in a later one" if other else f"where one of them has {most} rows"
        yield finding(
            "divided-twice",
            "warning",
            looked_at[0][-1].where,
            f"Each loss is a sum that is divided by a count which all micro-batches of a window share, {counts[0]:g} in the "
            f"first {seen}: it counts the whole window. And it is divided by {size}, the number of its micro-batches, too.",
            "Divide by the count of the window alone, or each micro-batch by its own count and the number of micro-batches.",
            window=size,
            counts=counts[:10],
        )


def _count_of_all(passes: list[Backward], size: int) -> float:
    """What the sums of one window are divided by besides its size, if that is one number for all of them; else 0."""
    both = {one.over_counts for one in passes}
    [by] = both if len(both) == 1 else [()]
    rest = [count for count in by if count != size]
    return rest[0] if len(by) == 2 and len(rest) == 1 and rest[0] > size else 0.0


def _is_share(one: Backward, size: int) -> bool:
    """Whether a loss was divided by the size of a window, a mean of several summands, it may be, as well."""
    named = one.for_windows and one.quotient > 0 and one.quotient % size == 0
    return named or size in (*one.shares, one.divisor)


def divided_again(view: View) -> Iterator[Finding]:
    """Losses divided by the size of the window, and behind them the gradients by it as well."""
    for optimizer, windows in view.windows.items():
        size = view.size(optimizer) or max((w.step.counted_to for w in windows), default=0)
        hits: list[tuple[Window, Edit]] = []
        for window in windows if size >= LEAST - 1 else ():
            passes = [one for one in view.passes_of(window) if one.pass_number <= LOOKED_AT]
            edits = [e for e in window.of(Edit) if e.factors]
            again = bool(edits) and all(abs(factor * size - 1) < 1e-3 for e in edits for factor in e.factors)
            if again and passes and all(_is_share(one, size) and not one.undivided for one in passes):
                hits.append((window, edits[0]))
        if len(hits) > 1:
            yield finding(
                "divided-twice",
                "warning",
                hits[0][1].where,
                f"Each loss is divided by {size}, the size of a window of {view.label(optimizer)}, and here its gradients are "
                f"divided by {size} again: what is clipped and stepped is one part in {size} of their mean.",
                "Divide the losses or the gradients, and not both.",
                window=size,
                steps=steps_of([w for w, _ in hits]),
            )


def auxiliary(view: View) -> Iterator[Finding]:
    """A loss that is divided by the size of the window, and beside it one that is not."""
    for windows in view.windows.values():
        hits: list[tuple[Window, Backward, bool]] = []
        for window in windows:
            if window.passes < LEAST - 1 or window.step.assigned or window.of(Edit):
                continue
            mixed = [one for one in view.passes_of(window) if one.undivided and one.divisor == window.passes]
            hits += [(window, one, True) for one in mixed if len(mixed) == window.passes]
            hits += [(window, one, False) for one in _bare_beside_divided(view, window)]
        seen = sum(any(one.pass_number <= LOOKED_AT for one in view.passes_of(w)) for w in windows)
        if not hits or len({id(w) for w, *_ in hits}) * 2 < seen:
            continue
        window, one, of_a_sum = hits[0]
        by = window.micro_batches
        what = f"a summand that ends in {one.undivided}" if of_a_sum else "the loss that goes backward here"
        yield finding(
            "auxiliary-loss-not-divided",
            "warning",
            (one.loss_at if of_a_sum else None) or one.where,
            f"In windows of {by} micro-batches one loss is divided by {by}, and {what} is not: it counts {by} times as "
            "much as in one large batch.",
            steps=steps_of(list({w.number: w for w, *_ in hits}.values())),
            window=by,
        )


def the_same_each_time(view: View) -> Iterator[Finding]:
    """A loss that is the same for each micro-batch of a window and that nothing divides, as a penalty on weights, where
    a loss of another line is divided by their number."""
    for windows in view.windows.values():
        hits: dict[Place | None, list[tuple[Window, list[Backward]]]] = {}
        looked_at = [w for w in windows if w.step.pass_numbers and w.step.pass_numbers[-1] <= LOOKED_AT]
        for window in looked_at:
            for passes in _alike_beside_divided(view, window):
                hits.setdefault(passes[0].where, []).append((window, passes))
        for where, found in hits.items():
            window, passes = found[0]
            moved = len({each[0].value for _, each in found}) > 1  # else it may be saturated
            if len(found) > 1 and 2 * len(found) > len(looked_at) and moved:
                by = len(passes)
                yield finding(
                    "auxiliary-loss-not-divided",
                    "warning",
                    where,
                    f"In windows of {by} micro-batches one loss is divided by {by}, and the loss that goes backward here is "
                    f"not. It is the same for each of them, {passes[0].value:.4g} in the first window: it has nothing to do "
                    f"with the micro-batch, and counts {by} times.",
                    steps=steps_of([w for w, _ in found]),
                    window=by,
                )


def _alike_beside_divided(view: View, window: Window) -> Iterator[list[Backward]]:
    """The passes of each line in a step whose losses are all worth the same, where another line has as many passes and
    each loss there is divided by their number. Not means: other rules tell these."""
    if window.step.assigned or window.of(Edit):
        return
    lines: dict[Place | None, list[Backward]] = {}
    for one in window.of(Backward):
        lines.setdefault(one.where, []).append(one)
    for where in dict.fromkeys(one.where for one in view.passes_of(window)):
        passes = lines.get(where, [])
        by, worth = len(passes), {one.value for one in passes}
        if by < LEAST - 1 or len(worth) > 1 or None in worth or any(p.reduction == "mean" or p.means for p in passes):
            continue
        others = [each for line, each in lines.items() if line != where and len(each) == by]
        if any(all(is_divided(one, by) for one in each) for each in others):
            yield passes


def auxiliary_by_name(view: View) -> Iterator[Finding]:
    """A summand that is divided by what the text calls the number of micro-batches, and beside it one that is not."""
    told = {w.step.last_pass_at for w in view.all_windows if any(one.divisor == w.passes for one in view.passes_of(w))}
    for where, passes in _by_line(view).items():
        first = passes[0]
        if where in told or not first.divisor or not all(one.undivided and one.parts_for_windows for one in passes):
            continue
        yield finding(
            "auxiliary-loss-not-divided",
            "warning",
            first.loss_at or where,
            f"One summand of the loss is divided by the number of micro-batches, {int(first.divisor)}, and one that ends in "
            f"{first.undivided} is not: over a window it counts {int(first.divisor)} times as much.",
            window=int(first.divisor),
        )


def sums_apart(view: View) -> Iterator[Finding]:
    """One of several sums of a loop that nothing divides, where the others are divided by the loop's length or such."""
    one = view.log.sum_apart
    if one is not None and any(view.windows.values()):
        yield finding(
            "auxiliary-loss-not-divided",
            "warning",
            one.where,
            f"This puts {some([*one.others, one.name])} together, which one loop adds up. {some(one.others)} are divided by "
            f"{one.by} behind it, and {one.name} is not: it counts that many times as much beside them.",
            f"Divide {one.name} by {one.by} as well.",
        )


def halved_alone(view: View) -> Iterator[Finding]:
    """One of two losses of a kind is halved where it is added to the other."""
    one = view.log.halved_alone
    if one is not None and any(view.windows.values()):
        yield finding(
            "one-of-two-halved",
            "warning",
            one.where,
            f"This adds {one.name} as a whole and a half of {some(one.others)}: one counts twice as much as the other.",
            f"Halve the sum: ({one.name} + {some(one.others)}) / 2.",
        )


def over_classes(view: View) -> Iterator[Finding]:
    """A summand of a loss is a mean over the classes of what is a divergence, or an entropy, as their sum."""
    told = [one for one in view.of(Backward) if one.classes > 1]
    if told:
        classes = told[0].classes
        yield finding(
            "divergence-averaged",
            "info",
            told[0].classes_at or told[0].where,
            f"A summand of the loss is a mean over {classes} classes of products with their log-probabilities, in "
            f"{times(len(told), 'pass')} looked at: it counts {classes} times less than the divergence, or the entropy, which is "
            "their sum.",
            passes=len(told),
            classes=classes,
        )


def unread_weights(view: View) -> Iterator[Finding]:
    """A loss is added as it is, and nothing reads the weight that is there for it."""
    one = view.log.unread_weight
    if one is not None and any(view.windows.values()):
        yield finding(
            "loss-weight-not-read",
            "warning",
            one.where,
            f"This adds {one.summand} as it is. {one.name} ({one.declared_at.short}) is there to weigh it, by its name, and "
            "nothing reads that.",
            f"Write {one.name} * {one.summand}; or take {one.name} out, if the loss is to count as a whole.",
            declared_at=one.declared_at,
        )


def sums_beside_means(view: View) -> Iterator[Finding]:
    """One summand of a loss is a sum over the rows of a batch, another one their mean."""
    lines: dict[Place | None, list[SummedRows]] = {}
    for one in view.of(Backward):
        if one.summed is not None:
            lines.setdefault(one.summed.where, []).append(one.summed)
    for where, told in lines.items():
        rows = max(one.rows for one in told)
        if any(one.again for one in told):
            yield finding(
                "divided-twice",
                "warning",
                where,
                f"A mean over the rows of a batch is divided by {rows}, the number of these rows, once more, beside a mean "
                f"that is not: it counts {rows} times too little.",
                "Leave the second division out.",
                rows=rows,
            )
            continue
        entries = max(one.entries for one in told)
        if entries:
            yield finding(
                "sum-beside-means",
                "warning" if any(one.alike for one in told) else "info",
                where,
                f"The loss adds a sum over the {entries} entries of each row to {'what is no such sum' if told[0].alone else 'a mean over as many'}: "
                f"before any weight it counts {entries} times as much as {'its mean would' if told[0].alone else 'that'}.",
                "Take the mean over all entries in both, or the sum over those of a row in both.",
                passes=len(told),
                entries=entries,
            )
            continue
        yield finding(
            "sum-beside-means",
            "warning" if any(one.alike for one in told) else "info",
            where,
            f"The loss adds a sum over {rows} rows to a mean over rows, and nothing divides the sum "
            "alone: its weight beside the mean grows with the size of the batch.",
            passes=len(told),
            rows=rows,
        )


def _bare_beside_divided(view: View, window: Window) -> list[Backward]:
    """Passes of a line whose mean losses are never divided, where another line's are, by the size of the window."""
    lines: dict[object, list[Backward]] = {}
    for number, trail in zip(window.step.pass_numbers, window.step.trails, strict=False):
        if number in view.by_pass:
            lines.setdefault(trail, []).append(view.by_pass[number])
    size = max((len(passes) for passes in lines.values()), default=0)
    divided = [p for p in lines.values() if len(p) == size and all(_is_divided_somewhere(one, size) for one in p)]
    bare = [p for p in lines.values() if len(p) == size and all(_is_bare(one, size) for one in p)]
    return [passes[0] for passes in bare] if size > 1 and divided else []


def _is_divided_somewhere(one: Backward, size: int) -> bool:
    return is_divided(one, size) or size in (one.summands_by or ())


def _is_bare(one: Backward, size: int) -> bool:
    plain = one.divisor is None and (one.bare or one.weighed or one.means)
    return (plain or one.summands_by is not None) and not one.gradient and not _is_divided_somewhere(one, size)


def short_windows(view: View) -> Iterator[Finding]:
    """Windows at the end of a pass over the data that have fewer micro-batches than the others, and the losses of which
    are divided by the number of a full one, too."""
    for optimizer, windows in view.windows.items():
        size = view.size(optimizer)
        full = [w for w in windows if w.micro_batches == size and _all_divided(view, w, size)]
        short = [w for w in windows if 0 < w.micro_batches < size and _all_divided(view, w, size)]
        ends = {w.number for w, after in pairwise(windows) if after.of(DataPass)} | {windows[-1].number}
        if size < 2 or len(full) < 2 or not short or not ends.issuperset(w.number for w in short):
            continue
        held, last = short[0].micro_batches, view.passes_of(short[0])[-1]
        first = view.first_at(last.where)
        counted = first is not None and _counts_to(view, first.divided_by)
        yield finding(
            "tail-divided-by-full-window",
            "info",
            (first.divided_at if first is not None and counted else None) or last.where,
            f"{times(len(short), 'window')} at the end of the data had fewer than {size} micro-batches, the first {held}, and "
            f"each loss was divided by {size} there, too: that step was taken with {held} / {size} of the mean.",
            steps=steps_of(short),
            window=size,
        )


def _all_divided(view: View, window: Window, by: int) -> bool:
    """Whether each loss of a window was divided by this number, and nothing has changed the gradients since."""
    passes, step = view.passes_of(window), window.step
    touched = window.of(Edit) or step.assigned or step.reference is not None
    return bool(passes) and not touched and not step.hooks and all(_divides(view, one, by) for one in passes)


def _divides(view: View, one: Backward, by: int) -> bool:
    """Whether a loss was divided by a number. Of later passes, which are not looked at, the text tells: where it divides
    by what the condition of a step takes a remainder by, as it is written, that is the same number all the time."""
    if one.pass_number <= LOOKED_AT:
        return is_divided(one, by)
    first = view.first_at(one.where)
    return first is not None and is_divided(first, by) and _counts_to(view, first.divided_by)


def _counts_to(view: View, written: str) -> bool:
    """Whether the condition of a step takes a remainder by this, as it is written."""
    return bool(written) and any(f"% {written} " in f"{condition} " for condition in view.conditions)


UNEQUAL = 1.5
"""From how many times as many targets on micro-batches are unequal."""
UNEQUAL_SUMS = 2.0
"""The same for sums: a mask that is drawn leaves now more, now less."""


def unequal_means(view: View) -> Iterator[Finding]:
    """Means over numbers of targets that differ, each divided by the number of micro-batches."""
    for windows in view.windows.values():
        known: list[tuple[Window, list[Backward]]] = []
        for window in windows:
            passes = view.passes_of(window)
            quiet = not window.of(Edit) and not window.step.assigned and window.step.reference is None
            alike = quiet and len(passes) > 1 and _reach_the_same(window)  # else they are tasks, with a weight each
            if alike and all(_targets(one, len(passes)) for one in passes):
                known.append((window, passes))
        hits = [(w, p) for w, p in known if _most(p) >= _least(p) * (UNEQUAL if p[0].targets else UNEQUAL_SUMS)]
        if len(hits) > 1 and len(hits) * 2 >= len(known) and len({p.where for p in hits[0][1]}) == 1:
            window, passes = max(hits, key=lambda hit: _most(hit[1]) / _least(hit[1]))
            least, most = _least(passes), _most(passes)
            kind, noun = f"means over {least} to {most} targets", "target"
            if not all(p.targets for p in passes):
                kind, noun = f"sums, divided by {least} to {most}, each by a count of its own", "summand"
            yield finding(
                "mean-of-means",
                "warning",
                passes[0].loss_at or passes[0].where,
                f"The {len(passes)} losses of step {window.number} are {kind}, and each is divided by {len(passes)}: a "
                f"{noun} of the smallest micro-batch weighs {most / least:.2g} times as much as one of the largest. So in "
                f"{len(hits)} of {times(len(known), 'window')} looked at.",
                steps=steps_of([w for w, _ in hits]),
                targets=[_targets(one, len(passes)) for one in passes],
            )


def _reach_the_same(window: Window) -> bool:
    """Whether all backward passes of a window put gradients on the same parameters."""
    names: dict[int, set[str]] = {}
    for event in window.of(Accumulate):
        names.setdefault(event.pass_number, set()).update(event.names)
    return len({frozenset(each) for each in names.values()}) < 2


def _targets(one: Backward, by: int) -> int:
    """Over how many targets a loss is a mean, or by which count of its own a sum was divided, where it was divided by
    this number, too; else 0."""
    if one.divisor == by and one.targets:
        return one.targets
    shared, count = one.over_counts if len(one.over_counts) == 2 else (0.0, 0.0)
    return int(count) if shared == by and count.is_integer() else 0


def _least(passes: list[Backward]) -> int:
    return min(_targets(one, len(passes)) for one in passes)


def _most(passes: list[Backward]) -> int:
    return max(_targets(one, len(passes)) for one in passes)


def contrasts(view: View) -> Iterator[Finding]:
    """A contrastive loss in micro-batches: the negatives are those of the micro-batch alone."""
    for windows in view.windows.values():
        hits = [(w, one) for w in windows for one in view.passes_of(w) if one.contrast and w.micro_batches > 1]
        if not hits:
            continue
        window, one = hits[0]
        yield finding(
            "contrastive-loss-accumulated",
            "info",
            one.where,
            f"This loss tells each of {one.contrast} rows from the others of its own micro-batch, and {window.micro_batches} "
            f"micro-batches make a step: nothing is told from the other {window.micro_batches - 1} micro-batches' rows, as "
            "it would be in one large batch.",
            rows=one.contrast,
            window=window.micro_batches,
        )
        return


def running_totals(view: View) -> Iterator[Finding]:
    """A gradient divided by a count that is never reset: by twice as much in the second window, and so on."""
    for optimizer, windows in view.windows.items():
        edits = [next((e for e in w.of(Edit) if e.factors and e.status == "fresh"), None) for w in windows[:TOTALS]]
        factors = [sorted(e.factors)[len(e.factors) // 2] for e in edits if e is not None]
        lines = {e.where for e in edits if e is not None}
        if len(factors) < TOTALS or len(lines) > 1 or factors[0] >= 1:
            continue
        if all(0.7 < factors[0] / factor / count < 1.4 for count, factor in enumerate(factors, 1)):
            yield finding(
                "divided-by-running-total",
                "warning",
                next(iter(lines)),
                f"At the first {TOTALS} steps of {view.label(optimizer)} this line multiplies the gradient by "
                f"{', '.join(f'{factor:.3g}' for factor in factors)}: one, a half, a third … of the first. What it divides by "
                "seems to be a count that is not reset after a step.",
                factors=factors,
            )
