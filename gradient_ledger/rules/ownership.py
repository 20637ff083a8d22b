"""Whose gradient is it: optimizers, models and layers that do not match."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from gradient_ledger.events import (
    Accumulate,
    AverageUpdate,
    Backward,
    Clear,
    Clip,
    Crossing,
    Finding,
    Forward,
    InputGradient,
    LocalNorm,
    LooseLeaf,
    OptimizerFacts,
    ParameterFacts,
    Place,
    SchedulerStep,
    Step,
)
from gradient_ledger.rules.view import (
    BY_HAND,
    LEAST,
    LOOKED_AT,
    SETTLED,
    View,
    Window,
    chosen_at,
    finding,
    first,
    getting,
    has_run,
    named_only,
    some,
    steps_of,
    steps_taken,
    times,
)

EARLY = 2
"""Steps that train what nobody meant to freeze for good."""
LEAST_SIGNS = 8
"""So many opposite signs are no accident."""


def crossed(view: View) -> Iterator[Finding]:
    """A backward meant for one optimizer that also reached another's parameters."""
    for optimizer, windows in view.windows.items():
        hits = [(w, detail) for w in windows if (detail := w.step.crossed) is not None and _crosses(view, w, detail)]
        if optimizer == BY_HAND or not hits:
            continue
        window, detail = hits[0]
        steps = times(len(hits), "step")
        early = next((place for w, one in hits if (place := _cleared_before(w, one)) is not None), None)
        if early is not None:
            yield finding(
                "backward-reaches-another-model",
                "error",
                early,
                f"{some(detail.names)} are cleared here, before the backward() of {detail.first} goes through them on its "
                f"way to another optimizer's parameters. {view.label(optimizer)} used what that left together with its "
                f"own, in {steps}.",
                "Clear these parameters right before their own backward(), after the other optimizer's step.",
                names=list(detail.names)[:10],
                steps=steps_of([w for w, _ in hits]),
            )
            continue
        yield finding(
            "backward-reaches-another-model",
            "error",
            detail.first,
            f"This backward() also put gradients on {some(detail.names)}; another optimizer stepped, and then "
            f"{view.label(optimizer)} used them together with its own, in {steps}.",
            names=list(detail.names)[:10],
            steps=steps_of([w for w, _ in hits]),
        )


def _crosses(view: View, window: Window, detail: Crossing) -> bool:
    """Whether the two passes belong to two optimizers that fight over these parameters.

    Either the one that stepped in between is reached by the second pass as well, as a discriminator is by its
    generator's loss; or the second pass is this optimizer's alone, as a discriminator's own loss is after the
    generator's. Where it reaches a third one, both passes share these parameters on purpose, as heads share an encoder.
    """
    if detail.first_trail == detail.last_trail:
        return False
    first_pass, last_pass = detail.numbers[0], detail.numbers[-1]
    reached: set[str] = set()
    stepped: set[int] = set()
    begun = False
    for event in window.events:
        number = event.pass_number if isinstance(event, (Accumulate, Backward)) else None
        begun = begun or number == first_pass
        begun = begun and number != last_pass
        if isinstance(event, Step) and begun and event.optimizer is not None:
            stepped.add(event.optimizer)
        if isinstance(event, Accumulate) and number == last_pass:
            reached |= set(event.names)
    others = stepped - {window.optimizer}
    foreign = reached - view.owned.get(window.optimizer, frozenset())
    fight = any(view.owned.get(other, frozenset()) & foreign for other in others)
    return bool(others) and (fight or (reached <= window.names and not _kept_on_purpose(window, detail)))


def _kept_on_purpose(window: Window, detail: Crossing) -> bool:
    """Whether these parameters were cleared before the first pass, apart from what that pass is for, which was cleared
    when forwards had run since; and the pass comes to them last: its gradients are to be stepped with the others."""
    early: Clear | None = None
    ran = apart = False
    for event in window.events:
        if isinstance(event, Clear) and set(detail.names) <= set(event.names):
            early, ran, apart = event, False, False
        elif isinstance(event, Clear):
            apart = ran
        ran = ran or isinstance(event, Forward)
        if isinstance(event, Accumulate) and event.pass_number == detail.numbers[0]:
            own = [name for name in event.names if name not in detail.names]
            return early is not None and apart and bool(own) and event.names[0] in own
    return False


def _cleared_before(window: Window, detail: Crossing) -> Place | None:
    """Where these parameters were cleared too early: before a pass that had to go through them to reach its own.

    A pass comes to what is nearer to the loss first. One that comes to them last could do without: by detach().
    """
    where: Place | None = None
    for event in window.events:
        if isinstance(event, Clear) and set(detail.names) <= set(event.names):
            where = event.where
        if isinstance(event, Accumulate) and event.pass_number == detail.numbers[0]:
            through = bool(event.names) and event.names[0] in detail.names and event.names[-1] not in detail.names
            return where if through else None
    return None


def meant_for_another(view: View) -> Iterator[Finding]:
    """A backward for one optimizer's parameters alone that also adds to another's, before either has stepped.

    What an earlier pass had put on the first one's was cleared in between, or it had put nothing there, since they were
    frozen: so the two passes are not one loss in two parts. Both may be meant for the second one all the same, as where
    heads share an encoder. Not where they undo one another, nor where the loss is made of the second one's gradients,
    as weights of losses are balanced by.
    """
    used = [(w.optimizer, w.step.pass_numbers) for w in view.all_windows]
    for optimizer, windows in view.windows.items():
        lines: dict[tuple[Place | None, ...], list[tuple[Window, Backward, Clear | None, Backward]]] = {}
        told: set[Place | None] = set()
        for window in windows if optimizer != BY_HAND else ():
            for later, clear, earlier in (*_cleared_between(view, window), *_undone_beside(view, window)):
                if any(o != optimizer and later.pass_number in n and earlier.pass_number not in n for o, n in used):
                    lines.setdefault((later.where, earlier.where), []).append((window, later, clear, earlier))
        for (place, _), hits in lines.items():
            window, later, clear, earlier = hits[0]
            looks = [one.against[early.pass_number] for _, one, _, early in hits if early.pass_number in one.against]
            made_of = [window.names & set(one.of_gradients) for _, one, _, _ in hits if one.of_gradients]
            mine = sorted(window.names & _reached(window, later.pass_number))
            if made_of and all(made_of):
                why = "from whose gradients its loss is computed"
            elif len(looks) > 1 and all(looks) and sum(looks) >= LEAST_SIGNS:
                why = (
                    "and there it undoes the other pass: where both come to the same tensor, all "
                    f"{sum(looks)} gradients that were looked at have opposite signs"
                )
            else:
                continue
            if place in told:
                continue
            told.add(place)
            steps = times(len({id(w) for w, _, _, _ in hits}), "step")
            theirs = sorted(_reached(window, later.pass_number) - window.names)
            begun = (
                f"What {earlier.where} had put on {some(clear.lost_names)} was cleared at {clear.where}, before this "
                "backward() filled them."
                if clear is not None
                else f"This backward() puts gradients on {some(theirs)}, where {earlier.where} has put none."
            )
            yield finding(
                "backward-reaches-another-model",
                "warning",
                place,
                f"{begun} But it also adds to {some(mine)}, {why}; {view.label(optimizer)} used both, in {steps}.",
                "Detach what this loss is computed from where it comes to the other model, or name what it is for: "
                "loss.backward(inputs=list(model.parameters())).",
                names=mine[:10],
                steps=steps_of(list({id(w): w for w, _, _, _ in hits}.values())),
            )


_ADVERSARY = re.compile(r"disc(?!rete|ount)|critic|advers", re.IGNORECASE)
"""Words in the names of models that are trained against another one."""


def adversaries(view: View) -> Iterator[Finding]:
    """A step of a discriminator, by its name, on its own loss and on that of the model it is trained against: both went
    backward before either stepped, and the second one came through it."""
    used = {optimizer: {n for w in windows for n in w.step.pass_numbers} for optimizer, windows in view.windows.items()}
    against = {p.name for p in view.log.parameters if _ADVERSARY.search(p.model or p.name)}
    for optimizer, windows in view.windows.items():
        hits: list[tuple[Window, Backward]] = []
        for window in windows if optimizer != BY_HAND else ():
            if not window.names <= against or window.step.crossed is not None:
                continue
            passes = [(one, _reached(window, one.pass_number)) for one in view.passes_of(window)]
            others = [n for other, numbers in used.items() if other not in (optimizer, BY_HAND) for n in numbers]
            through = [one for one, names in passes if one.pass_number in others and names - against]
            own = [one for one, names in passes if names and names <= against]
            if own and {one.where for one in own}.isdisjoint(one.where for one in through):
                hits += [(window, one) for one in through[:1]]
        if len(hits) > 1 and len(hits) * 2 >= len(windows):
            window, one = hits[0]
            names = sorted(window.names)
            yield finding(
                "backward-reaches-another-model",
                "warning",
                one.where,
                f"This backward() goes through {some(names)} on its way to another optimizer's parameters, and leaves "
                f"gradients there. {view.label(optimizer)} used them together with those of its own loss, in "
                f"{times(len(hits), 'step')}.",
                "Clear its gradients before its own loss goes backward, or freeze it, requires_grad_(False), while the other "
                "model's does.",
                names=names[:10],
                steps=steps_of([w for w, _ in hits]),
            )


def _reached(window: Window, number: int) -> set[str]:
    """What a backward pass added to."""
    return {name for event in window.of(Accumulate) if event.pass_number == number for name in event.names}


def _undone_beside(view: View, window: Window) -> Iterator[tuple[Backward, None, Backward]]:
    """Passes in a step that also reach what is not its optimizer's, and undo an earlier pass in it that does not."""
    for one in view.passes_of(window):
        for earlier in (view.by_pass[n] for n in one.against if n in window.step.pass_numbers and n in view.by_pass):
            mine, before = _reached(window, one.pass_number), _reached(window, earlier.pass_number)
            if one.where != earlier.where and before <= window.names and mine - window.names and mine & before:
                yield one, None, earlier


def _cleared_between(view: View, window: Window) -> Iterator[tuple[Backward, Clear, Backward]]:
    """Passes in a step that also reach another optimizer's parameters, which were cleared of an earlier pass in it."""
    numbers = window.step.pass_numbers
    for earlier, later in zip(numbers, numbers[1:], strict=False):
        one, before = view.by_pass.get(later), view.by_pass.get(earlier)
        if one is None or before is None or one.where == before.where:
            continue
        touched = _reached(window, later)
        for clear in window.of(Clear):
            lost = set(clear.lost_names)
            own = any(before.where and t and t[0] == (before.where.file, before.where.line) for t in clear.lost_trails)
            between = before.number < clear.number < one.number and own and not clear.nonfinite
            if between and lost & touched and window.names.isdisjoint(clear.names) and window.names & touched:
                yield one, clear, before
                break


def input_gradients(view: View) -> Iterator[Finding]:
    """A backward run for the gradient of the input that left gradients on the parameters."""
    for windows in view.windows.values():
        for window in windows:
            numbers = window.step.pass_numbers
            found = window.of(InputGradient)
            read = first(e for e in found if _for_the_input_alone(view, window, e, numbers))
            shown = None if read is not None else first(e for e in found if _for_a_log(view, window, e, numbers))
            if (of := read or shown) is None:
                continue
            source = view.by_pass[of.backward]
            yield finding(
                "input-gradient-pollutes-parameters",
                "error" if read is not None else "warning",
                source.where,
                f"This backward() was run for the gradient of an input ({of.where}){', of which a number is made' if shown else ''}, "
                "but it also put gradients on the parameters, and the step used them.",
                step=window.number,
            )
            break


def _for_a_log(view: View, window: Window, read: InputGradient, numbers: tuple[int, ...]) -> bool:
    """Whether the pass whose input gradient becomes a number is another one than those that train.

    It has a line of its own, no other one's input gradient is read, and it goes through outputs as they are, which are
    no loss; or it has a forward of its own, behind one that trains.
    """
    source = view.by_pass.get(read.backward)
    if not read.as_number or source is None or read.backward not in numbers or _are_shares(view, numbers):
        return False
    trails = dict(zip(numbers, window.step.trails, strict=False))
    if [trails.get(n) for n in numbers].count(trails.get(read.backward)) * 2 > len(numbers):
        return False
    before = view.by_pass.get(max((n for n in numbers if n < read.backward), default=0))
    own = before is not None and any(before.number < e.number < source.number and e.grad for e in window.of(Forward))
    return own or (source.of_outputs and all(e.backward == read.backward for e in window.of(InputGradient)))


def _for_the_input_alone(view: View, window: Window, read: InputGradient, numbers: tuple[int, ...]) -> bool:
    """Whether the pass whose input gradient is read was run for that alone.

    After the read the model runs again, and another line goes backward: not the same one, as in training on the
    attacked inputs themselves, and not without a forward, as for a term added to the loss.
    """
    source = read.backward
    if read.as_number or source not in numbers[:-1] or window.step.lines < 2:
        return False
    trails = dict(zip(numbers, window.step.trails, strict=False))
    later = [n for n in numbers if n > source]
    following = view.by_pass.get(later[0])
    if following is None or trails.get(source) in [trails.get(n) for n in later]:
        return False
    if _are_shares(view, numbers):
        return False
    return any(read.number < e.number < following.number and e.grad for e in window.of(Forward))


def _steps_another(view: View, optimizer: int) -> bool:
    """Whether another optimizer steps inside its own steps: what it holds itself may be slow weights, or copies."""
    return any(w.step.inside == optimizer for windows in view.windows.values() for w in windows)


def _are_shares(view: View, numbers: tuple[int, ...]) -> bool:
    """Whether each pass is one share of a mean: the attacks are trained on, too. Later passes, whose losses nobody
    looks at, are as the first of their line."""
    passes = [one for n in numbers if (one := view.by_pass.get(n)) is not None]
    known = [one if one.pass_number <= LOOKED_AT else view.first_at(one.where) or one for one in passes]
    return len({one.divisor for one in known}) == 1 and known[0].divisor is not None


def never(view: View) -> Iterator[Finding]:
    """Parameters an optimizer holds that no gradient ever reaches, and gradients no optimizer uses."""
    stepped = {number: windows for number, windows in view.windows.items() if number != BY_HAND}
    if not stepped:
        return
    sharded = bool(view.log.distributed.get("fsdp"))
    backwards = view.of(Backward)
    orphans = [] if BY_HAND in view.windows else _orphans(view)
    replaced: set[int] = set()
    for optimizer, windows in stepped.items():
        mine = [p for p in view.log.parameters if optimizer in p.owners]
        # In a later phase of training, with an optimizer of its own, it counts what reached it since.
        idle = [p for p in mine if not p.deposits or _came_later(p, optimizer, windows)]
        ghosts, new = _replaced(view, mine, [p for p in idle if _is_a_ghost(p)], orphans)
        if sharded and backwards and all(not w.step.fresh for w in windows):
            yield finding(
                "sync-never-re-enabled",
                "error",
                windows[0].step.where,
                f"{times(len(backwards), 'backward pass')} ran, and every step of {view.label(optimizer)} found no "
                "gradient: the sharded gradients are never reduced.",
                backwards=len(backwards),
            )
            continue
        if new:
            replaced |= set(map(id, new))
            yield _layer_replaced(view, optimizer, ghosts, new)
            continue
        moved = _held_by_another(view, optimizer, [p for p in idle if _is_a_ghost(p)])
        if moved:
            old, now = moved[0]
            made = _made_too_early(view, optimizer, now)
            yield finding(
                "layer-replaced-after-optimizer",
                "error",
                made or windows[0].step.where,
                f"{view.label(optimizer)} holds the old {some(p.name for p, _ in moved)}, which no model uses any more. What has "
                f"taken the place since gets gradients, and {view.label(now.owners[0])} holds it, which is another optimizer.",
                ghosts=[p.name for p, _ in moved][:10],
            )
            continue
        late = [p for p in orphans if _too_late(view, optimizer, p, mine)]
        if late:
            replaced |= set(map(id, late))
            made = _made_too_early(view, optimizer, late[0])
            yield finding(
                "layer-replaced-after-optimizer",
                "warning",
                late[0].made_at if late[0].made_after or made is None else made,  # where training was under way already
                f"{some(p.name for p in late)} became part of the model after {view.label(optimizer)} was made "
                f"({late[0].made_at}): now {getting(p.name for p in late)}, and no optimizer holds {_them(late)}.",
                orphans=[p.name for p in late][:10],
                made_at=late[0].made_at,
            )
            continue
        idle = [p for p in idle if p.requires_grad and not p.given]
        # A part that the user's code writes to, a running average say, is meant to get none.
        written = {(p.model, _part(p)) for p in idle if p.rewritten}
        idle = [p for p in idle if (p.model, _part(p)) not in written]
        cut = [p for p in idle if p.ran and p.in_model] or [p for p in idle if p.cut_at is not None and not p.ran]
        if (
            not (cut and backwards)
            and not written
            and _computes(windows[1:])
            and not any(p.deposits or p.given for p in mine)
            and _found_nothing(windows)
            and not _steps_another(view, optimizer)
        ):
            others = f"{some(p.name for p in orphans)} got some, and no optimizer holds {_them(orphans)}"
            # A model that is frozen is meant to stand still: then it was handed over in the place of another.
            frozen = bool(orphans) and not any(p.requires_grad for p in mine)
            why = ": all of it is frozen. " + others if frozen else ": " + others if orphans else ""
            remedy = "Give the optimizer the parameters that are to be trained." if frozen else ""
            made = view.made_at(optimizer)
            # Beside others that train, it may wait for another phase, in which its model is called.
            waits = (
                backwards
                and not (orphans or any(p.ran for p in mine))
                and not _others_train_its_shapes(view, mine, windows)
            )
            yield finding(
                "stepped-without-gradients",
                "info" if waits else "error",
                made if frozen and made is not None else windows[0].step.where,
                f"{view.label(optimizer)} took {times(len(windows), 'step')}, and no gradient ever reached what it holds"
                f"{why if backwards else ': no backward() ran'}.",
                remedy if backwards else "Call backward() on the loss before the step.",
                names=[p.name for p in orphans][:10],
            )
            continue
        if not cut or not backwards:
            continue
        checkpointed = [p for p in cut if p.in_checkpoint]
        if checkpointed:
            yield finding(
                "checkpoint-without-input-gradient",
                "error",
                checkpointed[0].called_at,
                f"{some(p.name for p in checkpointed)} run inside a reentrant checkpoint whose input needs no gradient: "
                f"none reached them in {times(len(windows), 'step')}.",
                names=[p.name for p in checkpointed][:10],
            )
        else:
            places = [p.cut_at for p in cut if p.cut_at is not None]
            one = len(cut) == 1
            computed = "it computes" if one else "they compute"
            leaves = f" What {computed} leaves the graph at {places[0]}." if places else ""
            thrown = None if places else cut[0].thrown_at
            if thrown is not None:
                leaves = f" The call at {thrown.short} throws away what it gives, or a part of that."
            belong = "belongs" if one else "belong"
            ran = f"ran in every forward and {belong}" if cut[0].ran else belong
            heads = not places and _are_other_heads(cut, mine)
            dropped = not places and all(p.dropped for p in cut) and len(cut) < len(mine)
            if dropped and thrown is None:
                gives = "it gives" if one else "they give"
                leaves = f" What {gives} was gone before the loss went backward: nothing was made of it."
            # A layer that ran has used what it holds; a forward of the user's own may have a branch without it.
            unsure = not places and all(p.in_own_class for p in cut) and len(cut) < len(mine)
            if unsure and thrown is None:
                ran = belong
                leaves = f" Whether the module that holds {_them(cut)} used {_them(cut)} was not seen."
            of_last = not places and not heads and _is_last_of_its_kind(cut, mine)
            if of_last:
                leaves = " The same part of the blocks before got some: what the last one hands on may be of no use."
            if heads:
                leaves = " Its neighbour got some: where each task has a head of its own, that is meant."
            told = finding(
                "graph-cut",
                "error"
                if len(cut) == len(mine)
                else "warning"
                if thrown is None and not (heads or of_last or dropped or unsure)
                else "info",
                places[0] if places else cut[0].called_at,
                f"{some(p.name for p in cut)} {ran} to {view.label(optimizer)}, but no gradient "
                f"reached {_them(cut)} in {times(steps_taken(view, optimizer, windows), 'step')}.{leaves}",
                "If that is not meant, take the detach(), .item(), .data, .numpy() or no_grad() away there; if it is, "
                "leave these parameters out of the optimizer."
                if places
                else "",
                names=[p.name for p in cut][:10],
            )
            called = next((p.cut_called_at for p in cut if p.cut_at is not None), None)
            yield replace(told, called_at=called)
    rest = [p for p in orphans if id(p) not in replaced]
    # What gets its gradient by hand stands for what a model has: gradients are copied to it.
    stands_in = [
        p for p in view.log.parameters if p.owners and not p.deposits and not p.in_model and not _is_a_ghost(p)
    ]
    if rest and not stands_in:
        unused = _nobody_uses(view, rest)
        # Beside a layer that was replaced, what gradients only pass through is not worth a note.
        if unused.severity != "info" or not replaced:
            yield unused


def _orphans(view: View) -> list[ParameterFacts]:
    """Parameters of models that get gradients, and that no optimizer holds."""
    return [p for p in view.log.parameters if (not p.owners or p.thawed) and p.deposits and p.in_model and not p.lent]


def _layer_replaced(view: View, optimizer: int, ghosts: list[ParameterFacts], new: list[ParameterFacts]) -> Finding:
    """What an optimizer holds has left the model, and what stands there now is in none."""
    layer_made = _made_anew(new[0], ghosts)
    names, names_now = some(p.name for p in ghosts), some(p.name for p in new)
    if names == names_now:
        names, names_now = f"the old {names}", f"the new {names_now}"
    get = "gets" if len(new) == 1 else "get"
    windows = view.windows.get(optimizer)
    return finding(
        "layer-replaced-after-optimizer",
        "error",
        _made_too_early(view, optimizer, new[0]) or layer_made or (windows[0].step.where if windows else None),
        f"{view.label(optimizer)} holds {names}, which no model uses any more, while "
        f"{names_now}{f', made at {layer_made},' if layer_made else ''} {get} gradients that no optimizer uses.",
        ghosts=[p.name for p in ghosts][:10],
        orphans=[p.name for p in new][:10],
        made_at=layer_made,
    )


def _others_train_its_shapes(view: View, mine: list[ParameterFacts], windows: list[Window]) -> bool:
    """Whether another optimizer trains parameters of the same shapes meanwhile, as those of a copy, or nobody else
    takes steps at all."""
    shapes = {p.shape for p in mine}
    meanwhile = {o for o, own in view.windows.items() if own is not windows and own}
    meanwhile = {o for o in meanwhile if view.windows[o][-1].step.number > windows[0].step.number}
    return not meanwhile or any(
        shapes <= {p.shape for p in view.log.parameters if p.deposits and other in p.owners} for other in meanwhile
    )


def _are_other_heads(cut: list[ParameterFacts], mine: list[ParameterFacts]) -> bool:
    """Whether these are all layers of a list of layers but one, as the heads of other tasks: all of them run, and the
    loss takes the result of one. Or all that stand behind one which gives as many numbers as each of them does."""
    heads = [_in_list(p) for p in cut]
    lists = {at[:2] for at in heads if at is not None}
    beside = [(at, p) for p in mine if p not in cut and (at := _in_list(p)) is not None and at[:2] in lists]
    if None in heads or not beside:
        return False
    if len({at for at, _ in beside}) == len(lists):
        return True
    last = max(int(at[2]) for at, _ in beside)
    gives = {p.shape[:1] for at, p in beside if int(at[2]) == last}
    behind = {int(at[2]) for at in heads if at is not None and int(at[2]) > last}
    # A stack of layers gives what the next one takes; heads give less, or more, than they take.
    square = any(len(set(p.shape[:2])) < len(p.shape[:2]) for p in cut)
    every = len(behind) == len(set(heads)) > 1 and not square
    return every and len(lists) == len(gives) == 1 and gives == {p.shape[:1] for p in cut} != {()}


def _is_last_of_its_kind(cut: list[ParameterFacts], mine: list[ParameterFacts]) -> bool:
    """Whether these are a part of the last of several blocks, which the same part of the blocks before it is not: what
    the last one hands on there is handed on to nothing."""
    blocks = {_block(p)[:2] for p in cut}
    if len(blocks) != 1:
        return False
    ((kind, number),) = blocks
    got = [(at, p) for p in mine if p.deposits and (at := _block(p))[0] == kind]
    before = {(at[2], p.shape) for at, p in got if at[1] < number}
    rest = any(at[1] == number for at, _ in got)
    return rest and not any(at[1] > number for at, _ in got) and all((_block(p)[2], p.shape) in before for p in cut)


def _block(parameter: ParameterFacts) -> tuple[str, int, str]:
    """The kind of block that a parameter stands in, which has a number in its model's label or in a list; that number;
    and its place there."""
    listed = _in_list(parameter)
    if listed is not None:
        inner = _inner(parameter).removeprefix(f"{listed[1]}.{listed[2]}.")
        return f"{parameter.model}.{listed[1]}", int(listed[2]), inner
    kind = _class(parameter.model)
    return kind, int(parameter.model[len(kind) :] or 0), _inner(parameter)


def _in_list(parameter: ParameterFacts) -> tuple[str, str, str] | None:
    """The model, the list and the number of a layer that stands in a list, as `last.0` does in `Net.last.0.weight`, or
    of a block of layers that does."""
    parts = _inner(parameter).split(".")
    at = next((n for n in reversed(range(1, len(parts) - 1)) if parts[n].isdigit()), None)
    return (parameter.model, ".".join(parts[:at]), parts[at]) if at is not None else None


def unstepped(view: View) -> Iterator[Finding]:
    """An optimizer whose parameters get gradients, that never steps: nothing else uses them or moves what it holds."""
    log = view.log
    over = log.finished and not log.error
    by_hand = log.steps_by_hand or log.stepped_in_vain or BY_HAND in view.windows
    if not over or by_hand or "step" in log.compiled or view.of(InputGradient):
        return
    following = {name for e in view.of(AverageUpdate) if e.trained for name in e.names}
    for entry in log.optimizers:
        mine = [p for p in log.parameters if entry.number in p.owners and p.deposits > 1]
        # Where a schedule runs on it, it was meant to step; and what somebody only reads is moved by nobody.
        scheduled = sum(e.optimizer == entry.number for e in view.of(SchedulerStep)) >= SETTLED
        used = any(p.given or p.shifted or p.rewritten or p.stepped_by or p.lent for p in mine)
        used = used or (any(p.by_hand for p in mine) and not scheduled)
        used = used or any(p.name in following for p in mine)
        if entry.steps or entry.moved or entry.number in view.windows or used or not mine:
            continue
        names = {p.name for p in mine}
        reached = [e for e in view.of(Accumulate) if names & set(e.names)]
        least = min((len(set(e.names) - names) for e in reached), default=0)  # its own pass, not one through it
        own = [e.pass_number for e in reached if len(set(e.names) - names) == least]
        passes = [view.by_pass[number] for number in own if number in view.by_pass]
        yield finding(
            "never-stepped",
            "warning",
            named_only(view, "step") or (passes[-1].where if passes else entry.made_at),
            f"{times(max(p.deposits for p in mine), 'backward pass')} brought gradients to {some(p.name for p in mine)}, and "
            f"{view.label(entry.number)} never took a step: nothing used them.",
            names=sorted(names)[:10],
        )
        held = [p for p in log.parameters if entry.number in p.owners]
        # Nothing clears the gradient of what was put there since, and one nan in it stays.
        ghosts, new = _replaced(view, held, [p for p in held if not p.deposits and _is_a_ghost(p)], _orphans(view))
        if new:
            yield _layer_replaced(view, entry.number, ghosts, new)


def always_cleared(view: View) -> Iterator[Finding]:
    """Parameters whose one optimizer never finds a gradient on them, though passes bring some, which other optimizers'
    steps use: it clears them before its own. They were meant for one of those."""
    for optimizer, windows in view.windows.items():
        mine = [p for p in view.log.parameters if p.owners == (optimizer,) and p.in_model and p.requires_grad]
        held = [p for p in mine if p.deposits and not (p.stepped_by or p.read or p.given or p.rewritten)]
        if optimizer == BY_HAND or not held or len(windows) < 3 or all(p in held for p in mine if p.deposits):
            continue
        names = {p.name for p in held}
        brought = {e.pass_number for e in view.of(Accumulate) if names <= set(e.names)}
        others = Counter(
            other
            for other, theirs in view.windows.items()
            for w in theirs
            if other != optimizer and brought & set(w.step.pass_numbers)
        )
        if not others:
            continue
        other, often = others.most_common(1)[0]
        if often < 3 or 2 * often < len(view.windows[other]):
            continue
        yield finding(
            "gradients-nobody-uses",
            "warning",
            view.made_at(other),
            f"{getting(sorted(names))} from the passes that {view.label(other)} steps with, and {view.label(optimizer)}, "
            f"which alone holds {_them(held)}, never found one in {times(len(windows), 'step')}: they were cleared before.",
            f"If they are to be trained by that loss, give them to {view.label(other)}; if not, detach what they compute.",
            names=sorted(names)[:10],
            owner_made_at=view.made_at(optimizer),
        )


def _is_a_ghost(parameter: ParameterFacts) -> bool:
    """Whether an idle parameter of an optimizer is in no model, and nobody gives it a gradient by hand."""
    return not parameter.in_model and not parameter.given and parameter.is_parameter


def _replaced(
    view: View, mine: list[ParameterFacts], ghosts: list[ParameterFacts], orphans: list[ParameterFacts]
) -> tuple[list[ParameterFacts], list[ParameterFacts]]:
    """Those of an optimizer's parameters that have left their place in a model, and what is there now.

    What never was in a model is an option that is off; and what is elsewhere, such as a fixed model that gradients pass
    through, has nothing to do with it. Where models are from before the ledger was opened, nobody knows what was in
    them: then something of the same shape, in a model that the optimizer trains, has taken the place.
    """
    living = {p.model for p in view.log.parameters if p.in_model}
    taken = {place for p in orphans for place in _places(p)}
    old = [p for p in ghosts if p.model and not taken.isdisjoint(_left(p, living))]
    left = {place for p in old for place in _left(p, living)}
    if not old and any(not p.made for p in mine if p.in_model):
        old = [p for p in ghosts if not p.model]
        trained = {p.model for p in mine if p.in_model and p.deposits}
        models = {p.model for p in orphans if p.model in trained and any(_alike(one.shape, p.shape) for one in old)}
        return old, [p for p in orphans if p.model in models]
    return old, [p for p in orphans if not left.isdisjoint(_places(p))]


def _held_by_another(
    view: View, optimizer: int, ghosts: list[ParameterFacts]
) -> list[tuple[ParameterFacts, ParameterFacts]]:
    """Parameters of an optimizer that no model uses any more, each with what has its name and shape in the model now,
    gets gradients, and belongs to other optimizers alone: weights that two models share were tied too late."""
    now = {(p.name, p.shape): p for p in view.log.parameters if p.in_model and p.deposits and p.owners}
    pairs = [(one, now[one.name, one.shape]) for one in ghosts if (one.name, one.shape) in now]
    return [(one, new) for one, new in pairs if optimizer not in new.owners]


def _left(ghost: ParameterFacts, living: set[str]) -> set[tuple[Any, ...]]:
    """The places a parameter has left: its own and its layer's, or that in all models of a kind, if its own is gone."""
    if ghost.model not in living:
        return {(_class(ghost.model), _inner(ghost), ghost.shape)}
    layer = _inner(ghost).rpartition(".")[0]
    return {(ghost.model, path) for path in (_inner(ghost), layer) if path}


def _places(parameter: ParameterFacts) -> set[tuple[Any, ...]]:
    """The places a parameter may have taken: its own, or that of a layer or a model."""
    inner = _inner(parameter)
    paths = {inner, *(inner[:at] for at, sign in enumerate(inner) if sign == ".")}
    return {(parameter.model, path) for path in paths} | {(_class(parameter.model), inner, parameter.shape)}


def _alike(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two shapes are one, or those of two layers that differ in their outputs or their inputs."""
    return one == other or (len(one) == len(other) > 1 and any(a == b for a, b in zip(one, other, strict=True)))


def loose(view: View) -> Iterator[Finding]:
    """Tensors of the user's own that a loss trains, and that were not given to an optimizer."""
    stepped = [entry for entry in view.log.optimizers if entry.number in view.windows]
    if not stepped or BY_HAND in view.windows or view.log.steps_by_hand:
        return
    lines: dict[tuple[Place | None, bool], list[LooseLeaf]] = {}
    for leaf in view.log.loose:
        made = stepped[0].made_at if len(stepped) == 1 and leaf.name else None
        lines.setdefault((leaf.made_at or made or leaf.where, leaf.in_module), []).append(leaf)
    for (where, in_module), leaves in lines.items():
        names = list(dict.fromkeys(leaf.name for leaf in leaves if leaf.name))
        plain = (
            " What a module has as a plain tensor, or in a plain dict or list, is none of its parameters()."
            if in_module
            else ""
        )
        yield finding(
            "gradients-nobody-uses",
            "warning",
            where,
            f"The loss puts gradients on {some(names) or 'a tensor'}, and no optimizer holds "
            f"{'them' if len(names) > 1 else 'it'}.{plain} Each backward adds to what is there, as "
            f"{min(leaf.passes for leaf in leaves)} of them were seen to do, and nobody clears or reads it.",
            "Make it an nn.Parameter." if in_module else "",
            names=names,
            backward_at=leaves[0].where,
        )


def _made_too_early(view: View, optimizer: int, layer: ParameterFacts) -> Place | None:
    """Where an optimizer was made; where functions of their own made it and the layer, the call of the first in the
    function that called both: there the two can change places. An object that made its own in `__init__` cannot."""
    entry = next((e for e in view.log.optimizers if e.number == optimizer), None)
    functions = {(place.file, place.function) for place in layer.made_by}
    if _made_in_forward(layer):
        return None  # no optimizer can come after that
    for place in entry.made_by if entry is not None else ():
        if place in layer.made_by:
            break  # one call led to both
        if (place.file, place.function) in functions:
            return place
        if place.function == "__init__":
            break
    return entry.made_at if entry is not None else None


def _made_in_forward(layer: ParameterFacts) -> bool:
    """Whether it is made as often as the model runs."""
    return any(place.function == "forward" for place in layer.made_by)


def _made_anew(orphan: ParameterFacts, ghosts: list[ParameterFacts]) -> Place | None:
    """The user's line that made a layer, told from those that made the ones it stands for.

    Both may come out of one function that builds models: then it is who called that function.
    """
    if _made_in_forward(orphan):
        return orphan.made_at
    lines = {place for ghost in ghosts for place in ghost.made_by}
    functions = {(place.file, place.function) for place in lines}
    apart = [place for place in orphan.made_by if (place.file, place.function) not in functions]
    if lines and not apart:
        apart = [place for place in orphan.made_by if place not in lines][-1:]
    return apart[0] if apart else orphan.made_at


def _computes(windows: list[Window]) -> bool:
    """Whether a forward or a backward stands between the steps: without one they only let a schedule go on."""
    return any(isinstance(event, (Forward, Backward)) for w in windows for event in w.events)


def _found_nothing(windows: list[Window]) -> bool:
    return not any(w.step.fresh or w.step.stale or w.step.skipped or w.step.zeros for w in windows)


def _came_later(parameter: ParameterFacts, optimizer: int, windows: list[Window]) -> bool:
    """Whether an earlier phase of training had it too, and none of this one's steps found a gradient on it."""
    later = len(parameter.owners) > 1 and parameter.owners[-1] == optimizer
    return len(windows) > 1 and later and optimizer not in parameter.stepped_by


def _nobody_uses(view: View, orphans: list[ParameterFacts]) -> Finding:
    """Whether parts were left out of the optimizer, or are there to be passed through."""
    written = Counter(p.model for p in orphans if p.rewritten)
    # Of a target that follows another model, a part may stand still because that one's does.
    following = {model for model, count in written.items() if 2 * count > sum(p.model == model for p in orphans)}
    left_out = [p for p in orphans if (p.training or p.trained) and p.is_parameter and _left_out(view, p)]
    left_out = [p for p in left_out if p.model not in following]
    stepped = [e for e in view.log.optimizers if e.number in view.windows]
    stepped = [e for e in stepped if any(e.number in p.stepped_past for p in left_out)] or stepped
    likely = _beside(view, left_out, stepped, str) or _beside(view, left_out, stepped, _class) or stepped
    repeating = [e for e in view.log.optimizers if e.steps and view.repeats(e.number)][-1:]
    likely = repeating or likely
    let_go = next((p.let_go_at for p in left_out if p.let_go_at is not None), None)
    who = left_out or orphans
    held = f"no optimizer holds {_them(who)}" + (
        ": the one that did was let go before it ever stepped" if let_go else ""
    )
    if any(p.owners for p in who):
        held = f"no optimizer that holds {_them(who)} has stepped since {'it was' if len(who) == 1 else 'they were'} frozen"
    put_at = next((p.replaced_at for p in left_out if p.replaced_at is not None), None)
    if put_at is not None and left_out and all(_is_a_copy(view, p) for p in left_out):
        return finding(
            "gradients-nobody-uses",
            "warning",
            put_at,
            f"{getting(p.name for p in left_out)}, in train mode, and {held}: this line put "
            f"{_them(left_out, 'its', 'their')} model in the place of one of its kind, which {_name_of(view, likely)} had trained and still holds.",
            "Load the weights into the model that is there, model.load_state_dict(saved), or make a new optimizer.",
            names=[p.name for p in left_out][:10],
        )
    listed = [p.listed_at for p in left_out]
    if listed and listed[0] is not None and None not in listed:
        return finding(
            "gradients-nobody-uses",
            "warning",
            listed[0],
            f"{getting(p.name for p in left_out)}, in train mode, and {held}: a plain list holds the modules, "
            "and what stands in one is no part of a model.",
            "Put the modules into nn.ModuleList, or nn.ModuleDict: then parameters() finds them.",
            names=[p.name for p in left_out][:10],
        )
    picked = next((e.picked_at for e in likely if e.picked_at is not None), None) if left_out else None
    vain = next((e.filled_in_vain for e in likely if e.filled_in_vain is not None), None) if left_out else None
    return finding(
        "gradients-nobody-uses",
        "warning" if left_out else "info",
        let_go or (_used_up(likely) or picked or _made_at(view, likely, left_out) if likely and left_out else None),
        f"{getting(p.name for p in who)}{', in train mode' if left_out else ''}, and {held}.{_again(view, repeating)}"
        f"{_empty(likely) if left_out else ''}"
        + (" By the text the optimizer is given parameters of a part of a model." if picked else "")
        + (f" By the text {vain[0]} is filled with parameters, and nothing reads it." if vain else ""),
        names=[p.name for p in who][:10],
        filled_at=vain[1] if vain else None,
        others_chosen_at=chosen_at(view, [p.name for p in who]),
    )


def _empty(likely: list[OptimizerFacts]) -> str:
    """That a group was given nothing, and what may have become of it."""
    if not any(e.empty_group for e in likely):
        return ""
    at = _used_up(likely)
    return " One of its groups is empty: " + (
        f"what it was given is a generator, which had been gone through before, at {at.short}."
        if at is not None
        else "a generator, as filter() gives one, can be gone through a single time."
    )


def _used_up(likely: list[OptimizerFacts]) -> Place | None:
    """Where a generator was gone through that one of these was given."""
    return next((e.used_up_at for e in likely if e.used_up_at is not None), None)


def _again(view: View, repeating: list[OptimizerFacts]) -> str:
    """What an optimizer holds that is given nothing of its own."""
    return "".join(f" All that {view.label(e.number)} holds is held by another one, too." for e in repeating)


def _them(parameters: list[ParameterFacts], one: str = "it", several: str = "them") -> str:
    return one if len(parameters) == 1 else several


def _is_a_copy(view: View, orphan: ParameterFacts) -> bool:
    """Whether an optimizer has trained the parameter of this name in another model of this kind."""
    return any(
        p.owners and p.deposits and p.shape == orphan.shape and _inner(p) == _inner(orphan)
        for p in view.log.parameters
        if p.model != orphan.model and _class(p.model) == _class(orphan.model)
    )


def _name_of(view: View, likely: list[OptimizerFacts]) -> str:
    return view.label(likely[0].number) if len(likely) == 1 else "an optimizer"


def _beside(
    view: View, left_out: list[ParameterFacts], among: list[OptimizerFacts], known: Callable[[str], str]
) -> list[OptimizerFacts]:
    """Those optimizers that hold other parameters of the same models, as far as that is `known` of a model's label."""
    models = {known(p.model) for p in left_out}
    owners = {owner for p in view.log.parameters if known(p.model) in models for owner in p.owners}
    return [e for e in among if e.number in owners]


def _made_at(view: View, concerned: list[OptimizerFacts], left_out: list[ParameterFacts]) -> Place | None:
    """Where the last of these was asked for, or what it is given was put together; the line of the helper, where all
    that it made are of these, or where it passed over what was frozen."""
    last = concerned[-1]
    if last.made_by and all(p.thawed for p in left_out):
        return last.filtered_at or _grouped(last, last.made_by[0])
    others = [e for e in view.log.optimizers if e.helper == last.helper]
    if last.helper and all(e in concerned for e in others):
        return last.helper
    return _grouped(last, last.made_at) if last.made_at is not None else None


def _grouped(made: OptimizerFacts, at: Place) -> Place:
    """Where what an optimizer is given was put together, if in the function that a line is of; else the line."""
    there = made.grouped_at
    return there if there is not None and (there.file, there.function) == (at.file, at.function) else at


def _whole(parameter: ParameterFacts) -> str:
    """The label of its model. All lists of modules are one: they run nothing themselves, and may share their parts."""
    kind = _class(parameter.model)
    return kind if kind in ("ModuleList", "ModuleDict") else parameter.model


def _class(label: str) -> str:
    """The label of a model without its number."""
    return label.rstrip("0123456789")


def _left_out(view: View, orphan: ParameterFacts) -> bool:
    """Whether a parameter looks forgotten, not frozen.

    Not what the user's code writes to, such as a copy that is brought up to date now and then. Else: an optimizer held
    it and was let go; or it was frozen when the optimizer was made, and is no more; or it was put among layers that
    are frozen, as an adapter is; or a group of its model's optimizer is empty, or an optimizer holds what another one
    holds; or it is one of all the vectors of a model, which are clipped with its matrices, or of few here and there,
    where all the rest of the model is held; or it belongs to a part of
    a model behind a part that is trained, where what is not to be trained stands in front, or beside its adapters, and
    steps were taken with it; or to a whole model, and the program never looks at its gradients.
    """
    if orphan.rewritten:
        return False
    if orphan.let_go_at is not None or orphan.thawed:
        return True
    mine = [p for p in view.log.parameters if _whole(p) == _whole(orphan) and p.in_model]
    if _with_an_empty_group(view, mine) or any(view.repeats(e.number) for e in view.log.optimizers if e.steps):
        return True
    if _put_among_frozen(orphan, mine) or _of_a_kind_left_out(view, orphan, mine) or _few_of_all(view, mine):
        return True
    trained = [p for p in mine if p.owners]
    if trained:
        if not orphan.stepped_past or _beside_the_parts(orphan, mine):
            return bool(orphan.stepped_past)
        behind = min(p.position for p in trained) < orphan.position or _a_small_part_of_several(orphan, mine)
        return _between(orphan, mine) or (behind and not any(_part(p) == _part(orphan) for p in trained))
    return not any(p.read for p in mine)


def _with_an_empty_group(view: View, parameters: list[ParameterFacts]) -> bool:
    """Whether an optimizer of these has a group which held nothing from the start."""
    owners = {owner for p in parameters for owner in p.owners}
    return any(e.empty_group and e.number in owners for e in view.log.optimizers)


def _beside_the_parts(orphan: ParameterFacts, mine: list[ParameterFacts]) -> bool:
    """Whether it stands on a model itself, the parts of which are all trained: they were listed, and it was not."""
    held_by = _inner(orphan).rpartition(".")[0]
    own = f"{held_by}." if held_by else ""
    beside = [p for p in mine if p.deposits and _inner(p).startswith(own)]
    parts = [p for p in beside if "." in _inner(p)[len(own) :]]
    return not orphan.read and len(parts) > 1 and all(p.owners for p in parts)


_SEVERAL = 3
"""Parts of a model that are all trained, where somebody has listed them."""


def _a_small_part_of_several(orphan: ParameterFacts, mine: list[ParameterFacts]) -> bool:
    """Whether it belongs to the one part of a model that is not trained, and a small one, while several others are: what
    is left untrained on purpose, in front of the rest, is most of a model."""
    got = [p for p in mine if p.deposits]
    paths = {p.name: _inner(p).split(".") for p in got}
    depth = len(os.path.commonprefix(list(paths.values())))  # what is wrapped around all of it
    parts: dict[str, list[ParameterFacts]] = {}
    for p in got:
        parts.setdefault(".".join(paths[p.name][depth : depth + 1]), []).append(p)
    own = next((held for held in parts.values() if orphan in held), [])
    rest = [p for p in got if p not in own]
    small = 4 * sum(math.prod(p.shape) for p in own) <= sum(math.prod(p.shape) for p in rest)
    if any(p.read for p in own) and not any(p.read for p in rest):
        return False  # its gradients are wanted for something of their own
    return small and len(parts) > _SEVERAL and all(p.owners for p in rest) and not any(p.owners for p in own)


_SMALL = 3
"""So many times as much of a model is held as what stands between its parts and is not."""


def _between(orphan: ParameterFacts, mine: list[ParameterFacts]) -> bool:
    """Whether it is one of few that stand between what is trained before and behind them, in modules of their own."""
    got = [p for p in mine if p.deposits]
    left, held = [p for p in got if not p.owners], [p for p in got if p.owners]
    if any(p.read or p.given for p in left) or not held:
        return False
    modules = {_inner(p).rpartition(".")[0] for p in left}
    apart = not any(_inner(p).rpartition(".")[0] in modules for p in held)
    first, last = min(p.position for p in held), max(p.position for p in held)
    inside = all(first < p.position < last for p in left)
    small = _SMALL * sum(math.prod(p.shape) for p in left) <= sum(math.prod(p.shape) for p in held)
    return apart and inside and small and orphan in left


def _of_a_kind_left_out(view: View, orphan: ParameterFacts, mine: list[ParameterFacts]) -> bool:
    """Whether parameters were chosen by their number of dimensions and all vectors of a model were left out, in many
    of its parts: as where one of two groups is not handed on. They are clipped together with what is trained, or the
    text of the optimizer shows the choice, and no list of the others."""
    vectors = [p for p in mine if len(p.shape) < 2 and p.deposits]
    matrices = [p for p in mine if len(p.shape) >= 2 and p.deposits]
    if len(orphan.shape) >= 2 or len(vectors) < 2 or not all(p.owners for p in matrices):
        return False
    names = {p.name for p in mine if p.deposits}
    apart = not any(p.owners for p in vectors) and len(matrices) > 1
    owners = {owner for p in matrices for owner in p.owners}
    told = any(e.by_dimensions for e in view.log.optimizers if e.number in owners)
    return apart and (told or any(names <= set(e.names) for e in view.of(Clip)))


_FEW, _HERE_AND_THERE = 10, 3
"""So many times as much of a model is held as what fell through the groups of its optimizer, in so many modules."""


def _few_of_all(view: View, mine: list[ParameterFacts]) -> bool:
    """Whether little of a model is left out, here and there, as what neither of two groups takes; or one parameter in
    many, which is clipped with all the others."""
    got = [p for p in mine if p.deposits]
    left, held = [p for p in got if not p.owners], [p for p in got if p.owners]
    if not left or (any(p.by_hand for p in left) and not any(p.by_hand for p in held)):
        return False  # their gradients are wanted for something of their own
    volumes = [sum(math.prod(p.shape) for p in each) for each in (left, held)]
    modules = {_inner(p).rpartition(".")[0] for p in left}
    names = {p.name for p in got}
    clipped = any(names <= set(e.names) for e in view.of(Clip))
    return (_FEW * volumes[0] <= volumes[1] and len(modules) >= _HERE_AND_THERE) or (
        clipped and _FEW * len(left) <= len(held)
    )


def _put_among_frozen(orphan: ParameterFacts, mine: list[ParameterFacts]) -> bool:
    """Whether a parameter was put into a model later, between layers that are all frozen.

    Where every other one beside it is frozen, somebody has chosen what to train there. It must have come by a call of
    its own, with all that is trained in vain beside it, and get a gradient whenever something trained does.
    """
    if not orphan.made or not any(p.owners and 0 < p.deposits <= orphan.deposits for p in mine if p.requires_grad):
        return False
    path = _inner(orphan).split(".")[:-1]
    while path:
        inside = [p for p in mine if p.model == orphan.model and _inner(p).startswith(".".join([*path, ""]))]
        beside = [p for p in inside if _apart(orphan, p)]
        if beside:
            return all(not p.requires_grad and p.made < orphan.made for p in beside)
        path.pop()
    return False


def _apart(late: ParameterFacts, early: ParameterFacts) -> bool:
    """Whether two layers were made by two calls, neither of which is a part of making one model."""
    pairs = zip(reversed(late.made_by), reversed(early.made_by), strict=False)
    one = next((one for one, other in pairs if one != other), None)
    return one is not None and one.function != "__init__"


def _inner(parameter: ParameterFacts) -> str:
    """Its name within its model."""
    return parameter.name.removeprefix(f"{parameter.model}.")


def _part(parameter: ParameterFacts) -> str:
    """The outermost part of the model that holds it, not counting what is wrapped around a model as a whole."""
    return _inner(parameter).removeprefix("module.").split(".")[0]


def _too_late(view: View, optimizer: int, orphan: ParameterFacts, mine: list[ParameterFacts]) -> bool:
    """Whether a parameter without optimizer was made after this one, in a model this one trains, and after every other
    that steps something of the model: a later one could have held it. And steps were taken with it in the model, where
    a candidate gets a gradient to be measured by and is taken in afterwards, or dropped."""
    beside = {owner for p in view.log.parameters if _whole(p) == _whole(orphan) and p.in_model for owner in p.owners}
    made = {e.number: e.made for e in view.log.optimizers if e.number == optimizer or e.number in beside}
    trains = any(p.model == orphan.model and p.in_model for p in mine)
    latest = made.get(optimizer, 0) > 0 and made[optimizer] == max(made.values())
    return trains and latest and orphan.made > made[optimizer] and bool(orphan.stepped_past)


def held_later(view: View) -> Iterator[Finding]:
    """What came into a model behind its optimizer, whose steps used passes that had reached it and moved the rest, until
    another optimizer was made that holds it."""
    made = {entry.number: entry.made for entry in view.log.optimizers}
    for optimizer, windows in view.windows.items():
        began = made.get(optimizer, 0)
        models = {p.model for p in view.log.parameters if optimizer in p.owners and p.in_model}
        late = [
            p
            for p in view.log.parameters
            if began and p.in_model and p.model in models and p.owners and optimizer not in p.owners
            if optimizer in p.stepped_past and began < p.made < min(made.get(owner, 0) for owner in p.owners)
        ]
        if late and len(windows) >= LEAST:
            now = view.label(late[0].owners[0])
            yield finding(
                "layer-replaced-after-optimizer",
                "warning",
                view.made_at(optimizer),
                f"{some(p.name for p in late)} became part of the model after {view.label(optimizer)} was made. Its steps used "
                f"passes that had reached {_them(late)}, and moved the rest alone, until {now} was made, which holds "
                f"{_them(late)}.",
                orphans=[p.name for p in late][:10],
                made_at=late[0].made_at,
            )


def idle(view: View) -> Iterator[Finding]:
    """Parameters without a gradient of their own that zeros still move."""
    for optimizer, windows in view.windows.items():
        hits = [w for w in windows if w.step.idle_moved and w.step.fresh]
        if not hits:
            continue
        names = sorted({name for w in hits for name in w.step.idle_moved})
        by = max(value for w in hits for value in w.step.idle_moved.values())
        clear = first(e for e in view.of(Clear) if e.how == "zeros" and set(names) & set(e.names))
        yield finding(
            "zeros-move-unused-parameters",
            "warning",
            clear.where if clear else hits[0].step.where,
            f"{some(names)} got no gradient, but hold zeros instead of None: steps of {view.label(optimizer)} moved "
            f"them all the same, by up to {by:.3g}.",
            names=names[:10],
            moved=by,
            steps=steps_of(hits),
        )


def thawed_again(view: View) -> Iterator[Finding]:
    """A loop over all parameters makes those require gradients which another has frozen just before, by the text."""
    made = {(at.file, at.function) for one in view.log.optimizers if (at := view.made_at(one.number)) is not None}
    for thaws, freezes in view.log.thawed_again:
        if any(view.windows.values()) and (has_run(view, thaws) or (thaws.file, thaws.function) in made):
            yield finding(
                "frozen-and-thawed",
                "info",
                thaws,
                f"Here all parameters are made to require gradients, behind line {freezes.line}, which freezes: what that "
                "froze requires them again.",
                frozen_at=freezes,
            )


def moved_without(view: View) -> Iterator[Finding]:
    """Parameters without any gradient that an optimizer of the user's own moves."""
    for optimizer, windows in view.windows.items():
        hits = [w for w in windows if w.step.none_moved and w.step.fresh]
        if len(hits) < 2:
            continue
        names = sorted({name for w in hits for name in w.step.none_moved})
        by = max(value for w in hits for value in w.step.none_moved.values())
        put = view.log.puts_zeros_at
        yield finding(
            "zeros-move-unused-parameters",
            "warning",
            put or hits[0].step.where,
            f"{some(names)} had no gradient, and steps of {view.label(optimizer)} moved "
            f"{'it' if len(names) == 1 else 'them'} all the same, by up to {by:.3g}"
            + (": here they are given one of zeros." if put else "."),
            "In step(), pass over parameters whose .grad is None, as torch's own optimizers do.",
            names=names[:10],
            moved=by,
            steps=steps_of(hits),
            step_taken_at=hits[0].step.where,
        )


def distributed(view: View) -> Iterator[Finding]:
    """Ranks that do not talk, or talk too often."""
    for optimizer, windows in view.windows.items():
        silent, late = [], []
        for window in windows:
            passes = view.passes_of(window)
            flags = [p.sync for p in passes if p.sync is not None]
            forwards = [e.sync for e in window.of(Forward) if e.sync is not None and e.grad]
            if not flags or not forwards:
                continue
            if not any(forwards):
                silent.append(window)
            elif sum(forwards) > 1 and sum(flags) < sum(forwards):
                late.append(window)
        if silent and len(silent) * 2 > len(windows):
            yield finding(
                "never-synchronised",
                "error",
                silent[0].step.last_pass_at,
                f"Every micro-batch of {len(silent)} of {times(len(windows), 'window')} ran under no_sync(): the ranks "
                f"never averaged their gradients, and {view.label(optimizer)} stepped each with its own.",
                steps=steps_of(silent),
            )
        if late:
            yield finding(
                "forward-outside-no-sync",
                "warning",
                late[0].of(Forward)[0].where,
                "The forward ran outside no_sync() and only the backward inside it: DDP decides in the forward, so "
                f"every micro-batch was reduced, in {times(len(late), 'window')}.",
                steps=steps_of(late),
            )


def local_norms(view: View) -> Iterator[Finding]:
    """The norm of a sharded gradient, taken from one process's part."""
    found = [e for e in view.of(LocalNorm) if not e.reduced]
    if len(found) > 1:
        yield finding(
            "local-norm-of-sharded-gradient",
            "warning",
            found[0].where,
            f"The gradients of {some(found[0].names)} are sharded, and the norm of this process's parts was taken "
            f"{times(len(found), 'time')}, without a word to the other processes after it: each has another number.",
            names=list(found[0].names)[:10],
        )


def unfrozen(view: View) -> Iterator[Finding]:
    """A module that was to be frozen, or thawed, by an attribute of its own."""
    used = {name for w in view.all_windows for name in w.step.names}
    for one in view.log.unfrozen:
        mine = sorted(used.intersection(one.names))
        if one.thaws and used:
            yield finding(
                "thawed-by-attribute",
                "warning",
                one.where,
                f"{one.name} has requires_grad = True, which on a module is an attribute like any other: {some(one.names)}, "
                f"which an optimizer holds, {'does' if len(one.names) == 1 else 'do'} not require gradients to the last.",
                names=list(one.names)[:10],
            )
        elif mine and not one.thaws:
            yield finding(
                "frozen-by-attribute",
                "error",
                one.where,
                f"{one.name} has requires_grad = False, which on a module is an attribute like any other: {some(mine)} got "
                "gradients, and steps used them.",
                names=mine[:10],
            )


def repeated(view: View) -> Iterator[Finding]:
    """A list that holds one module several times."""
    for where in view.log.repeated_modules if any(view.windows.values()) else ():
        yield finding(
            "module-repeated",
            "info",
            where,
            "A module is made once, and stands in several places of this list: they share its weights and its gradient, and "
            "every one of its calls adds to that.",
        )


def never_frozen(view: View) -> Iterator[Finding]:
    """A function that freezes, which no text calls, while what was trained required gradients to the last."""
    log = view.log
    freezes = log.uncalled_freeze
    if freezes is None or not log.finished or log.error:
        return
    for optimizer, windows in view.windows.items():
        made = next((e for e in log.optimizers if e.number == optimizer), None)
        names = sorted({name for w in windows for name in w.step.names})
        if made is not None and len(windows) > 1 and names:
            yield finding(
                "never-frozen",
                "warning",
                made.made_at,
                f"Nothing calls {freezes.name}() ({freezes.where.short}), which freezes parameters, and no other function "
                f"does: steps of {made.label} move {some(names)}.",
                names=names[:10],
            )
            return


def left_frozen(view: View) -> Iterator[Finding]:
    """Parameters that were trained, were frozen for an evaluation, and were never thawed while training went on; or
    that were frozen before the first step, where a part of the model alone is thawed again."""
    steps = [w.step for w in view.all_windows]
    last = {name: step.number for step in steps for name in step.names}
    for one in view.log.meanwhile:
        never = [p for p in view.log.parameters if p.owners and not p.requires_grad and p.name not in last and p.ran]
        if one.a_part and never and len(steps) > 1:
            yield finding(
                "left-frozen",
                "warning",
                one.where,
                f"{some(p.name for p in never)} {'belongs' if len(never) == 1 else 'belong'} to an optimizer, and no step had "
                f"a gradient of {_them(never)}. {one.frozen_at.short} freezes a model for a while, and this thaws a part of it.",
                "Thaw the parameters of the same model that is frozen.",
                names=[p.name for p in never][:10],
            )
            continue
        left = [p for p in view.log.parameters if p.stepped_by and not p.requires_grad and p.name in last]
        since = [step for step in steps if left and step.names and step.number > max(last[p.name] for p in left)]
        if len(since) > 1:
            yield finding(
                "left-frozen",
                "warning",
                one.where,
                f"{some(p.name for p in left)} {'was' if len(left) == 1 else 'were'} trained, and "
                f"{'has' if len(left) == 1 else 'have'} been frozen since, through {times(len(since), 'step')} "
                f"of others. {one.frozen_at.short} freezes parameters for a while, and {one.thawed_at.short} is to thaw "
                "them: these it did not.",
                names=[p.name for p in left][:10],
                thawed_at=one.thawed_at,
            )


def left_behind(view: View) -> Iterator[Finding]:
    """Parameters that the first steps trained and that are frozen ever since, where others of the same model are frozen
    for a while and thawed again.

    What was frozen before the first step may be frozen for good, as the first layers of a discriminator are.
    """
    if view.log.meanwhile:
        return
    for optimizer, windows in view.windows.items():
        mine = [p for p in view.log.parameters if optimizer in p.owners and optimizer in p.stepped_by]
        left = [p for p in mine if not p.requires_grad and p.frozen_after in range(1, EARLY + 1)]
        back = [p for p in mine if p.came_back and p.model in {one.model for one in left}]
        names = {p.name for p in left}
        since = [w for w in windows[EARLY:] if w.step.names]
        if optimizer == BY_HAND or not back or len(since) < LEAST or any(names & set(w.step.names) for w in since):
            continue
        early = max(p.frozen_after or 0 for p in left)
        yield finding(
            "left-frozen",
            "warning",
            view.log.thawed_at or since[0].step.where,
            f"{some(p.name for p in left)} {'was' if len(left) == 1 else 'were'} trained by {view.label(optimizer)} in its first "
            f"{'step' if early == 1 else f'{early} steps'}, and {'has' if len(left) == 1 else 'have'} been frozen "
            f"since. {some(p.name for p in back)} {'was' if len(back) == 1 else 'were'} frozen meanwhile as well, and thawed "
            "again.",
            "Thaw the parameters of the same model that is frozen.",
            names=sorted(names)[:10],
            steps=steps_of(since),
        )


def thawed_norms(view: View) -> Iterator[Finding]:
    """Norms that were frozen for good, and thawed together with what was frozen for a warm-up.

    Whoever freezes the weights of a norm with its statistics, and keeps these in eval mode all along, means both.
    """
    frozen_at = view.log.norms_frozen_at
    if frozen_at is None:
        return
    for optimizer, windows in view.windows.items():
        mine = [p for p in view.log.parameters if optimizer in p.owners]
        early = [p for p in mine if p.taken_frozen]
        thawed = [p for p in early if optimizer in p.stepped_by and p.norm and not p.training]
        if not thawed or not all(p.norm for p in early) or any(p.training for p in mine if p.norm):
            continue
        begun = [w for w in windows if w.step.names]
        first_with = next((w for w in begun if thawed[0].name in w.step.names), None)
        warm = begun[0].step.names if begun else ()
        besides = [p for p in mine if p.training and not p.taken_frozen and p.name not in warm]
        if first_with is None or not warm or not any(p.name in first_with.step.names for p in besides):
            continue
        yield finding(
            "thawed-with-the-rest",
            "warning",
            view.log.thawed_at or first_with.step.where,
            f"{some(p.name for p in thawed)} were frozen before {view.label(optimizer)} was made, where {frozen_at.short} "
            f"freezes norms and puts them into eval mode, in which they still are. When {some(p.name for p in besides)} were "
            f"thawed, they were too: steps from {first_with.number + 1} on move them.",
            names=[p.name for p in thawed][:10],
            frozen_at=frozen_at,
        )


def misspelt(view: View) -> Iterator[Finding]:
    """Parameters that were to be frozen by a name that torch does not know."""
    used = {name for w in view.all_windows for name in w.step.names}
    for word in dict.fromkeys(p.misspelt for p in view.log.parameters if p.misspelt):
        mine = [p for p in view.log.parameters if p.misspelt == word and p.name in used]
        if mine:
            yield finding(
                "frozen-by-attribute",
                "error",
                mine[0].misspelt_at,
                f"{some(p.name for p in mine)} {'has' if len(mine) == 1 else 'have'} {word} = False, which torch does not "
                "read: they got gradients, and steps used them.",
                "Write requires_grad = False, or call requires_grad_(False).",
                names=[p.name for p in mine][:10],
                attribute=word,
            )
