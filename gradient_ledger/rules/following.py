"""What follows the trained weights: averages, teachers, target networks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from gradient_ledger.events import (
    AverageUpdate,
    Finding,
    ParameterFacts,
    Place,
)
from gradient_ledger.rules.view import (
    BY_HAND,
    SETTLED,
    View,
    finding,
    most_steps,
    some,
    steps_of,
    steps_taken,
    times,
)

LONG = 100
"""Steps after which a target that stands still is no choice of a short run."""


def unfollowed(view: View) -> Iterator[Finding]:
    """An average or a target network whose update no text calls."""
    log = view.log
    if not log.finished or log.error:
        return
    optimizer, windows = max(view.windows.items(), key=lambda one: len(one[1]), default=(BY_HAND, []))
    taken = steps_taken(view, optimizer, windows) if windows else 0
    names = _copies(view) if log.uncalled_update is not None or log.left_behind is not None else []
    remedy = ""
    if taken < SETTLED:
        return
    if log.unmoved_average is not None:
        made = log.unmoved_average
        said = f"{made.name} is made at {made.where.short}, and nothing calls an update of it: it is no average of"
    elif log.uncalled_update is not None and len(names) > 1:
        update = log.uncalled_update
        said = (
            f"Nothing calls {update.name}() ({update.where.short}), and nothing else lets {some(names)} follow what is "
            "trained: they are as they were before"
        )
    elif log.left_behind is not None and len(names) > 1 and taken >= LONG:
        made = log.left_behind
        said = (
            f"{made.name} is made at {made.where.short} as a copy of what is trained, and nothing lets it follow after "
            "that: it is what it was before"
        )
        remedy = (
            "Let it follow behind the optimizer's step, by a small share each time or as a copy every so many steps."
        )
    else:
        return
    where = windows[0].step.where
    text = f"{said} {times(taken, 'step')}."
    yield finding("average-never-updated", "warning", where, text, remedy, names=names[:10])


def unasked(view: View) -> Iterator[Finding]:
    """A target network that follows the trained one and is never called."""
    log, made = view.log, view.log.never_asked
    taken = most_steps(view)
    if made is None or not log.finished or log.error or taken < SETTLED:
        return
    here = f": {made.follows} itself is asked here" if made.instead is not None else ""
    yield finding(
        "target-never-asked",
        "warning",
        made.instead or made.where,
        f"{made.name}, made at {made.where.short}, is kept up to date with {made.follows}, and nothing ever calls "
        f"it{here}. What it should have steadied moved with each of {times(taken, 'step')}.",
        optimizer_steps=taken,
    )


def _copies(view: View) -> list[str]:
    """The parameters without a gradient that have the place and the shape of trained ones, and were run beside them."""
    trained = [p for p in view.log.parameters if p.deposits and p.owners]
    still = [p for p in view.log.parameters if p.in_model and not p.deposits]
    return [p.name for p in still if any(_is_of_a_kind(p, other) for other in trained)]


def _is_of_a_kind(one: ParameterFacts, other: ParameterFacts) -> bool:
    """Whether two parameters of one shape stand in the same place of two models, or of two parts of one."""
    tails = [p.name.split(".")[-2:] for p in (one, other)]
    return one.shape == other.shape and tails[0] == tails[1] and len(tails[0]) == 2


def averages(view: View) -> Iterator[Finding]:
    """Running averages of the weights that are updated once a micro-batch."""
    for optimizer, windows in view.windows.items():
        hits = []
        for window in windows:
            lines: dict[Place | None, list[AverageUpdate]] = defaultdict(list)
            for event in (e for e in window.of(AverageUpdate) if not e.trained):
                lines[event.where].append(event)
            most = max(lines.values(), key=len, default=[])
            inside = sum(bool(event.pending) for event in most)
            if len(most) >= window.micro_batches > 1 and inside >= window.micro_batches - 1:
                hits.append((window, most))
        if hits:
            window, updates = hits[0]
            yield finding(
                "average-every-micro-batch",
                "warning",
                updates[0].where,
                f"The running average of the weights was updated {times(len(updates), 'time')} between two steps of "
                f"{view.label(optimizer)}, while the weights stood still: its decay is taken to the power "
                f"{len(updates)}.",
                updates=len(updates),
                steps=steps_of([w for w, _ in hits]),
            )
            return
    yield from _averaged_each_turn(view)


def _averaged_each_turn(view: View) -> Iterator[Finding]:
    """Such an average by the text, where no update was seen: most of its calls only count, it may be."""
    where, windows = view.log.averaged_each_turn, view.all_windows
    seen = any(not e.pending for e in view.of(AverageUpdate))
    usual = sorted(w.micro_batches for w in windows)[len(windows) // 2] if windows else 0
    single = sum(w.micro_batches < 2 for w in windows)
    if where is None or seen or usual < 2 or single * 4 > len(windows):
        return
    yield finding(
        "average-every-micro-batch",
        "info",
        where,
        "By its name this updates a running average of the weights, and by the text at each micro-batch, while "
        f"{view.label(windows[0].optimizer)} steps after {usual}: its decay, and how often it is updated, are counted in "
        "micro-batches.",
        "Call it where the optimizer steps, under the same condition; or see that it waits for that by itself.",
        updates=usual,
        step_taken_at=windows[0].step.where,
    )


def taken_twice(view: View) -> Iterator[Finding]:
    """An average that takes in the same weights a second time, at a line of its own."""
    updates = [e for e in view.of(AverageUpdate) if not e.pending and e.update_at is not None]
    first = {e.update_at: e for e in reversed(updates) if not e.again}
    hits = [e for e in updates if e.again and e.update_at not in first]
    if len(hits) > 1 and first and view.all_windows:
        before = next((e for e in reversed(updates) if e.number < hits[0].number), updates[0])
        yield finding(
            "average-taken-twice",
            "warning",
            hits[0].update_at,
            "This update takes in weights that the average has taken in before: no step lies between the two, "
            f"{times(len(hits), 'time')}. They count for more than others.",
            updates=len(hits),
            updated_before_at=before.update_at,
            called_from_at=hits[0].where,
        )


def own_averages(view: View) -> Iterator[Finding]:
    """A running average of the weights that lies in their own memory."""
    for one in view.log.own_averages:
        yield finding(
            "average-shares-memory",
            "error",
            one.kept_at or one.where,
            f"What is averaged at {one.where} lies in the memory of {some(one.names)}, and is no copy of it: each update "
            "writes into the weights that are trained, and there is no average.",
            names=list(one.names)[:10],
            updated_at=one.where,
        )


def newest_averages(view: View) -> Iterator[Finding]:
    """A running average whose two factors stand in each other's place."""
    for one in view.log.averages:
        if one.grown is not None:
            yield finding(
                "average-factors-swapped",
                "warning",
                one.where,
                f"The running average took in {one.grown[0]:.3g} of the newest weights at the first update that was looked "
                f"at, and more and more of them, {one.grown[1]:.3g} at the last: it becomes a copy of the weights.",
                shares=list(one.grown),
                names=list(one.names)[:10],
            )
        if one.total is not None and one.share is not None:
            yield finding(
                "average-factors-off",
                "warning",
                one.where,
                f"Each update of the running average takes {one.total - one.share:.6g} of what was averaged before and "
                f"{one.share:.6g} of the newest weights, {one.total:.6g} together: it {'grows' if one.total > 1 else 'shrinks'} "
                "with every update, whatever the weights do.",
                share=one.share,
                total=one.total,
                names=list(one.names)[:10],
            )
        # A share that is computed, as where a decay is warmed up, is seldom a round number.
        elif (
            one.share is not None and 0.9 - 1e-6 < one.share < 1 - 1e-9 and abs(one.share - round(one.share, 5)) < 1e-8
        ):
            yield finding(
                "average-factors-swapped",
                "warning",
                one.where,
                f"Each update of the running average takes {one.share:.6g} of the newest weights and leaves "
                f"{1 - one.share:.6g} of what was averaged before: it is all but a copy of the weights.",
                share=one.share,
                updates=one.updates,
                names=list(one.names)[:10],
            )


FAR = 0.5
"""Lengths of the weights by which an average is far from them."""


def first_averages(view: View) -> Iterator[Finding]:
    """A running average that takes in little at a time, and begins far from the weights; or is updated once an epoch."""
    taken = most_steps(view)
    for one in view.log.averages if taken >= SETTLED else ():
        if one.begun_off is not None and one.begun_off > FAR:
            little = "little" if one.share is None else f"{one.share:.3g}"
            yield finding(
                "average-begins-elsewhere",
                "warning",
                one.where,
                f"At its first update the running average was {one.begun_off:.0%} of the length of {some(one.names)} away from "
                f"these, and each update takes in {little}: it began as something else than the weights.",
                names=list(one.names)[:10],
                distance=one.begun_off,
            )
        if one.once_at is not None and one.share is not None:
            yield finding(
                "average-once-an-epoch",
                "warning",
                one.once_at,
                f"The running average is updated here, in the loop over epochs and behind the steps of one, and takes in "
                f"{one.share:.3g} of the weights each time: {times(taken, 'step')} were taken, and few of them reach it.",
                names=list(one.names)[:10],
                share=one.share,
            )


LITTLE = 0.02
"""What an update of an average takes in, at most, where half precision rounds most of it away."""
MORE = 0.05
"""What it takes in, at most, where half precision rounds a good part of it away."""
LEAST_ENTRIES = 32
"""Entries that updates were to move, over all of them, from which on their share says something."""


def rounded_averages(view: View) -> Iterator[Finding]:
    """A running average of half precision that most updates leave as it was."""
    cast_at = next(iter(view.log.averages_cast_at), None)
    for one in view.log.averages:
        where = cast_at if one.dtype and cast_at is not None else one.where
        if one.falling_to is not None and any(view.windows.values()):
            yield finding(
                "average-rounded-away",
                "info",
                where,
                f"The running average of {some(one.names)} is {one.dtype}, and the weights are not. Each update takes in less "
                f"of them than the one before, {one.falling_to:.3g} at the last one that was looked at: from {LITTLE:g} "
                "down half precision rounds most of it away.",
                names=list(one.names)[:10],
                dtype=one.dtype,
            )
        if one.share is None or one.share > MORE or one.entries < LEAST_ENTRIES or 4 * one.still < one.entries:
            continue
        much = one.share <= LITTLE and 4 * one.still >= 3 * one.entries
        yield finding(
            "average-rounded-away",
            "warning" if much else "info",
            where,
            f"The running average of {some(one.names)} is {f'computed in {one.computed_in}' if one.computed_in else one.dtype}, "
            f"and each update takes in {one.share:.3g} of the weights: "
            f"of the sampled entries that differed from these, updates left {math.floor(100 * one.still / one.entries)}% as they were.",
            names=list(one.names)[:10],
            dtype=one.computed_in or one.dtype,
            share=one.share,
            entries=one.entries,
            still=one.still,
        )


def drawn_back(view: View) -> Iterator[Finding]:
    """Trained weights that are set to little of themselves and much of others that never change."""
    for one in view.log.drawn_back:
        other = f"those of {one.drawn_to}" if one.drawn_to else "other weights"
        line = f"{one.where.short}, with what is handed over here," if one.swapped_at is not None else "this line"
        yield finding(
            "weights-drawn-back",
            "warning",
            one.swapped_at or one.where,
            f"Again and again {line} leaves {one.share:.3g} of {some(one.names)}, which an optimizer trains, and takes "
            f"{one.rest:.3g} of {other}, which stand still: what the steps have learned is undone{'' if one.share < 0.5 else ', little by little'}.",
            names=list(one.names)[:10],
            share=one.share,
        )


def other_followed(view: View) -> Iterator[Finding]:
    """An average that is made from one model and updated from another one."""
    one = view.log.other_followed
    taken = most_steps(view)
    if one is not None and taken >= SETTLED:
        yield finding(
            "average-of-another-model",
            "warning",
            one.where,
            f"{one.name} was made from {one.begun} ({one.made_at.short}), and is updated here from {one.follows} alone: after "
            f"{times(taken, 'step')} it is no average of {one.begun}.",
            f"Update {one.name} from {one.begun}, or make it from {one.follows}.",
        )


def led_by_another(view: View) -> Iterator[Finding]:
    """A target that is updated from the twin of the network whose target it is by its name."""
    one = view.log.led_by_another
    if one is not None and most_steps(view) >= SETTLED:
        yield finding(
            "average-of-another-model",
            "warning",
            one.where,
            f"{one.name} is the target of {one.begun} by its name, and is updated here from {one.follows}.",
            f"Update it from {one.begun}.",
        )


def copied_back(view: View) -> Iterator[Finding]:
    """A target network is copied into the network that it should follow."""
    log, one = view.log, view.log.copied_back
    taken = most_steps(view)
    if one is not None and taken >= SETTLED and log.finished and not log.error:
        yield finding(
            "weights-drawn-back",
            "warning",
            one.where,
            f"This line loads {one.name} into {one.follows}, which {one.name} was filled from at the beginning, and nothing "
            f"loads {one.follows} into {one.name} after that: whenever it runs, {one.follows} is back where it began.",
            f"Load the other way round: {one.name}.load_state_dict({one.follows}.state_dict()).",
        )


def kept_averages(view: View) -> Iterator[Finding]:
    """A running average that is put into the model for an evaluation, and stays there."""
    for one in view.log.averages:
        if one.trained_on > 1:
            yield finding(
                "average-not-swapped-back",
                "warning",
                one.evaluated_at or one.where,
                f"The running average of {one.where} stood in the place of the weights while the model was evaluated, and "
                f"training went on from it, {times(one.trained_on, 'time')}: what the steps before had made of the "
                "weights was lost.",
                evaluations=one.trained_on,
                updated_at=one.where,
            )


def trained_averages(view: View) -> Iterator[Finding]:
    """A running average of the weights that an optimizer moves too."""
    updates = [e for e in view.of(AverageUpdate) if e.trained and not e.mutual]
    for optimizer, windows in view.windows.items():
        mine = [e for e in updates if view.owned.get(optimizer, frozenset()) & set(e.names)]
        moved = {name for w in windows for name in w.step.names}
        hit = next((e for e in mine if moved & set(e.names)), None)
        if hit is not None:
            made = view.made_at(optimizer)
            yield finding(
                "average-trained-too",
                "warning",
                made or hit.where,
                f"{some(sorted(moved & set(hit.names)))} are moved towards other weights at {hit.where}, as an average of "
                f"them, and steps of {view.label(optimizer)} move them too, by gradients of their own.",
                names=sorted(moved & set(hit.names))[:10],
            )
