"""What training keeps from step to step beside weights and gradients: the mode of modules, the state of optimizers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from gradient_ledger.events import Evaluated, Finding, Forward, OwnLoad, Place, Withdrawn
from gradient_ledger.rules.view import BY_HAND, LEAST, SETTLED, View, Window, finding, some, steps_of, times

LONG = 3
"""Steps in eval mode that are no accident of where an evaluation stands."""

IN_A_ROW = 3
"""Optimizers that are made one after another for one step each."""
MADE = 2
"""Those that go on where another one of several steps ended."""

LOOKED_AT = 60
"""Of the optimizers of one line the first so many tell who follows whom: those of several models do so in turn."""


def not_restored(view: View) -> Iterator[Finding]:
    """A state in a checkpoint that is asked for by another key than it is saved by, or that of an optimizer, by none."""
    one = view.log.unsaved_key
    if one is not None and any(view.windows.values()):
        yield finding(
            "restored-by-another-key",
            "warning",
            one.where,
            f"The state of {one.of} is loaded if a checkpoint has the key {one.key!r}. It is saved by the key {one.saved!r}, "
            "which nothing reads: a run that goes on from such a checkpoint goes on without it, and says nothing.",
            f"Ask for {one.saved!r}, and without a condition: a key that is missing should be an error.",
        )
    left = view.log.left_in_checkpoint
    if left is not None and left.loaded_by and any(view.windows.values()):
        yield finding(
            "state-not-restored",
            "warning",
            left.where,
            f"A run goes on from a checkpoint here. {left.loaded_by}() loads the state of {left.of}, which is saved by the key "
            f"{left.saved!r}, where it is given one, and is given none here: it begins anew.",
            f"Make {left.of} before this line, and hand it over.",
        )
    elif left is not None and any(view.windows.values()):
        yield finding(
            "state-not-restored",
            "warning",
            left.where,
            f"A run goes on from a checkpoint here, with its model and its count of epochs or steps. The state of {left.of} is "
            f"saved beside them by the key {left.saved!r}, and nothing reads that: it begins anew.",
            f"{left.of}.load_state_dict(checkpoint[{left.saved!r}])",
        )


def eval_mode(view: View) -> Iterator[Finding]:
    """Training goes on in eval mode after an evaluation.

    Where an evaluation is followed by train mode at once, its author knows that it must be: a later phase in eval mode
    may be meant. Unless such phases come and go, as they do where only each epoch begins with `train()`.
    """
    for optimizer, windows in view.windows.items():
        told = [(w, one) for w in windows if not w.skipped for one in w.step.evaluated]
        kinds = dict.fromkeys((one.where, one.parts) for _, one in told)
        phases = [phase for kind in kinds for phase in _phases(told, kind)]
        at_once = {name for phase in phases if not phase.windows for name in phase.parts}
        long = [phase for phase in phases if len(phase.windows) >= LONG and _as_before(windows, phase.windows)]
        come_and_go = {phase.kind for phase in long if sum(p.ended and p.kind == phase.kind for p in long) > 1}
        long = [phase for phase in long if phase.kind in come_and_go or not at_once & set(phase.parts)]
        if optimizer == BY_HAND or not long:
            continue
        inside = sorted({w.number for phase in long for w in phase.windows})
        parts = list(dict.fromkeys(name for phase in long for name in phase.parts))
        begins = long[0].begins_at
        yield finding(
            "trained-in-eval-mode",
            "warning",
            begins or long[0].where,
            f"{f'No train() here: {long[0].where.short}' if begins and long[0].where else 'This'} puts {some(parts)} into eval mode for {'a checkpoint' if long[0].saved else 'an evaluation'}, and {times(len(inside), 'step')} of "
            f"{view.label(optimizer)}, beginning with step {long[0].windows[0].step.window + 1}, trained "
            f"{'it' if len(parts) == 1 else 'them'} in that mode, by the lines that had trained in train mode before.",
            steps=inside[:10],
            parts=parts[:10],
            eval_at=long[0].where,
        )


def noisy_teachers(view: View) -> Iterator[Finding]:
    """What stands still and is to be imitated, with its dropout on or its running statistics on the move."""
    for one in view.log.noisy_teachers:
        if one.calls >= SETTLED:
            yield finding(
                "teacher-in-train-mode",
                "warning",
                one.where,
                f"{one.name}, which nothing trains, ran {times(one.calls, 'time')}, each time in train mode: its "
                f"{' and '.join(one.kinds[:3])} computed something else than in eval mode.",
                calls=one.calls,
            )


class _Phase:
    """The steps from an evaluation to the step that finds its parts in train mode again."""

    def __init__(self, told: list[tuple[Window, Evaluated]]):
        self.kind = self.where, self.parts = told[0][1].where, told[0][1].parts
        self.windows = [w for w, one in told if one.stays]
        self.begins_at = next((one.begins_at for _, one in told if one.begins_at is not None), None)
        self.ended = not told[-1][1].stays
        self.saved = told[0][1].saved


def _phases(told: list[tuple[Window, Evaluated]], kind: tuple[Place | None, tuple[str, ...]]) -> list[_Phase]:
    found: list[_Phase] = []
    mine: list[tuple[Window, Evaluated]] = []
    for window, one in told:
        if (one.where, one.parts) == kind:
            mine.append((window, one))
            if not one.stays:
                found.append(_Phase(mine))
                mine = []
    return [*found, _Phase(mine)] if mine else found


def _as_before(windows: list[Window], inside: list[Window]) -> bool:
    """Whether the passes in these windows come from lines that trained in train mode, too."""
    before = {trail for w in windows if w.number < inside[0].number and w not in inside for trail in w.step.trails}
    return all(set(w.step.trails) <= before for w in inside)


def taken_back(view: View) -> Iterator[Finding]:
    """Eval mode that `train()` took back before it had mattered."""
    for one in view.log.taken_back:
        if any(view.windows.values()):
            them = "it" if len(one.parts) == 1 else "them"
            yield finding(
                "eval-mode-taken-back",
                "warning",
                one.where,
                f"This train() also puts {some(one.parts)} back into train mode. Something before it had put {them} into "
                f"eval mode, in which {'it' if them == 'it' else 'they'} never ran.",
                parts=list(one.parts)[:10],
            )


def withdrawn(view: View) -> Iterator[Finding]:
    """Train mode that an `eval()` took back before anything was trained in it, or that never came."""
    for one in view.log.withdrawn:
        if one.meant:
            yield _never_in_train(one)
            continue
        begun = f"The train() at {one.began_at.short}" if one.began_at is not None else "train()"
        yield finding(
            "train-mode-taken-back",
            "warning",
            one.where,
            f"{begun} is taken back here before the next step, and nothing puts it into train mode again before it is "
            f"trained: {times(one.steps, 'step')} trained {some(one.parts)} in eval mode.",
            parts=list(one.parts)[:10],
            trained=one.steps,
        )


def _never_in_train(one: Withdrawn) -> Finding:
    """A model that an early `eval()` has left in eval mode for all of its training."""
    if one.meant == "evaluation":
        seen = "for an evaluation before the first step"
        mend = ""
    else:
        seen = f"before the first step, while {one.meant}, of the same shapes and in no optimizer, stays in train mode"
        mend = "Call eval() on the copy, not on the model or on what holds it; and model.train() before training."
    return finding(
        "trained-in-eval-mode",
        "warning",
        one.where,
        f"This puts {some(one.parts)} into eval mode {seen}. Nothing puts {'it' if len(one.parts) == 1 else 'them'} into "
        f"train mode after that: {times(one.steps, 'step')} of training, all of them, ran in eval mode.",
        mend,
        parts=list(one.parts)[:10],
        trained=one.steps,
    )


def made_anew(view: View) -> Iterator[Finding]:
    """An optimizer that goes by what earlier steps have left in it, and is made anew for every step or every epoch."""
    stepped = [entry for entry in view.log.optimizers if entry.steps and entry.made_at is not None]
    stepped.sort(key=lambda entry: str(entry.made_at))
    for where, group in groupby(stepped, key=lambda entry: entry.made_at):
        mine = list(group)
        behind = [entry for entry in mine if entry.follows is not None]
        apart = [entry for entry in mine[1:LOOKED_AT] if entry.follows is None]
        several = any(entry.steps > 1 for entry in mine)
        if several and min(entry.steps for entry in mine) < LEAST:
            continue
        if len(behind) < (MADE if several else IN_A_ROW * max(len(apart), 1)) or (several and apart):
            continue
        kind = behind[0].label.partition(" #")[0]
        steps = f"{sum(entry.steps for entry in mine)} steps in all" if several else "one step each"
        yield finding(
            "optimizer-made-anew",
            "warning",
            where,
            f"{times(len(mine), kind + ' optimizer')} made at this line took {steps}. {len(behind)} of them were "
            "seen to go on where the one before had left the same parameters, and to begin with an empty state.",
            optimizers=len(mine),
            followers=len(behind),
        )


def passed_by(view: View) -> Iterator[Finding]:
    """An optimizer that is stepped from outside what was made around it."""
    for entry in view.log.optimizers:
        if entry.passed_by is not None:
            kind = entry.passed_by.kind
            yield finding(
                "wrapper-passed-by",
                "warning",
                entry.passed_by.where,
                f"{times(entry.steps, 'step')} of {view.label(entry.number)} were taken from outside the {kind} that was "
                f"made around it, and nothing in that has changed: what {kind} does beside such a step was never done.",
                wrapper=kind,
            )


def own_loads(view: View) -> Iterator[Finding]:
    """A snapshot of the weights that moves with them: loading it restores nothing."""
    at_once = [e for e in view.of(OwnLoad) if e.at_once and not e.besides]
    if at_once:
        event = at_once[0]
        loaded = f"{event.where.short} loads" if event.kept_at is not None and event.where is not None else "This loads"
        names = next((e.names for e in at_once if e.names), ())
        yield finding(
            "loaded-onto-itself",
            "warning",
            event.kept_at or event.where,
            f"{loaded} {f'the weights of {some(names)}' if names else 'weights'} onto themselves: the model that is read "
            "and the one that is written are one object.",
            names=list(names)[:10],
        )
    for where in dict.fromkeys(e.where for e in view.of(OwnLoad) if not e.at_once):
        event = next(e for e in view.of(OwnLoad) if e.where == where and not e.at_once)
        since = f"{times(event.steps, 'step')} later"
        if event.replaced_at is not None:
            since = f"after other weights were loaded at {event.replaced_at.short}"
        if event.kept_at is None:
            told = f"This loads {'what is computed from ' if event.computed else ''}a state_dict()"
        else:
            told = f"{'What is computed from this' if event.computed else 'This'} is loaded"
            told += f" at {where.short}" if where is not None else ""
        end = "the weights stay bit for bit as they are" if event.computed else "nothing is restored"
        yield finding(
            "snapshot-shares-memory",
            "warning",
            event.kept_at or where,
            f"{told}, {since}. It lies in the memory of the weights themselves: {end}.",
            loaded_at=where,
            names=list(event.names)[:10],
        )


TOGETHER = 3
"""Windows in which a model runs with a graph and without one that are no evaluation beside training."""


def stand_ins(view: View) -> Iterator[Finding]:
    """A model that is to stand still by its name, asked without a graph in window after window, and trained in each, or
    frozen with that name though an optimizer holds it."""
    if any(e.at_once and not e.besides for e in view.of(OwnLoad)):
        return  # its loading tells
    for one in view.log.stand_ins:
        ran = [[e.grad for e in w.of(Forward) if e.model == one.model] for w in view.all_windows]
        both = sum(bool(how) if one.frozen else set(how) == {True, False} for how in ran)
        if both >= TOGETHER:
            told = (
                f"It is frozen, though an optimizer holds it, and ran so in {times(both, 'window')}: as {one.role} and as "
                f"{one.other} nothing of it was trained."
                if one.frozen
                else f"In {times(both, 'window')} it ran without a graph, as what stands still, and was trained: each step "
                "moves what the other name stands for."
            )
            yield finding(
                "loaded-onto-itself",
                "warning",
                one.where,
                f"{one.role} and {one.other} are two names of one model. {told}",
                "Make a copy that stays behind: copy.deepcopy(model).requires_grad_(False).",
                role=one.role,
                other=one.other,
            )


def empty_statistics(view: View) -> Iterator[Finding]:
    """BatchNorms in eval mode whose statistics nobody has filled, though their weights have moved."""
    one = view.log.empty_norms
    if one is not None and any(view.windows.values()):
        yield finding(
            "statistics-never-filled",
            "warning",
            one.where,
            f"{some(one.names)} ran in eval mode with the running statistics that they were made with, zeros and ones, for "
            f"{one.times} calls, while their weights moved: nothing fills these statistics.",
            names=list(one.names)[:10],
        )


def two_names(view: View) -> Iterator[Finding]:
    """What is averaged into, or copied from, another one by the names of the two, which are names of one."""
    one = view.log.under_two_names
    if one is not None and any(view.windows.values()):
        yield finding(
            "loaded-onto-itself",
            "warning",
            one.where,
            f"{one.name} and {one.follows} are two names of one model: what the weights of one are to bring into those of the "
            "other is there already.",
            "Make a copy that stays behind: copy.deepcopy(model).requires_grad_(False).",
            role=one.name,
            other=one.follows,
        )


def listed_twice(view: View) -> Iterator[Finding]:
    """Parameters that an optimizer was given more than once."""
    for optimizer, windows in view.windows.items():
        hits = [w for w in windows if w.step.listed_twice]
        entry = next((one for one in view.log.optimizers if one.number == optimizer), None)
        if hits and entry is not None:
            names = list(dict.fromkeys(hits[0].step.listed_twice))
            yield finding(
                "parameter-listed-twice",
                "warning",
                entry.grouped_at or entry.made_at or hits[0].step.where,
                f"{some(names)} {'stands' if len(names) == 1 else 'stand'} more than once among what {view.label(optimizer)} "
                "steps: each step moves the same weights several times by one gradient, and decays them as often.",
                names=list(names)[:10],
                steps=steps_of(hits),
            )


def one_memory(view: View) -> Iterator[Finding]:
    """Two parameters of one optimizer on one memory."""
    for optimizer, windows in view.windows.items():
        hits = [w for w in windows if w.step.one_memory]
        if not hits:
            continue
        step = hits[0].step
        made = view.made_at(optimizer)
        yield finding(
            "parameters-share-memory",
            "warning",
            step.joined_at or made or step.where,
            f"{some(step.one_memory)} are two parameters with two gradients, and lie in one memory: each step of "
            f"{view.label(optimizer)} moves it twice, each time by one of the gradients alone.",
            "Give each a tensor of its own, nn.Parameter(x.clone()); or use one parameter for both."
            if step.made_of_one
            else "",
            names=list(step.one_memory),
            steps=steps_of(hits),
        )
