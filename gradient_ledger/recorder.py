"""The recorder of one ledger: what it watches, how it is closed, and the log it gives to the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from gradient_ledger import (
    blends,
    buffers,
    clocks,
    closelook,
    compiled,
    frozen,
    graphless,
    handed,
    loose,
    lowrank,
    making,
    modes,
    normed,
    overwritten,
    passes,
    places,
    rhythm,
    source,
    timetables,
    told,
    undone,
    unseen,
    wrappers,
)
from gradient_ledger.account import FRESH, Account
from gradient_ledger.books import ModuleAccount, OptimizerAccount
from gradient_ledger.events import (
    CrossedRows,
    Forward,
    FrozenMeanwhile,
    GoneGradients,
    GrownGradients,
    HelperCall,
    Log,
    OptimizerFacts,
    OwnAverage,
    ParameterFacts,
    Place,
    ScheduleFacts,
    Step,
    UnfrozenModule,
)
from gradient_ledger.gradients import settle_all
from gradient_ledger.state import State
from gradient_ledger.tensors import is_finite, is_zero

T = TypeVar("T")

_ASSIGNS = r"load_state_dict\([\w.]+\.state_dict\(\).*\bassign\s*=\s*True"
"""What gives a model the tensors of another one, and no copies."""


class Recorder(State):
    """Keeps the accounts of one ledger; the taps report to it, under its lock."""

    def __init__(
        self,
        watched: Iterable[object] = (),
        window: int | None = None,
        reference: Callable[[], Mapping[str, Tensor]] | None = None,
        digests: bool = False,
    ):
        super().__init__(window, reference, digests, passes.deposited)
        self.listener = rhythm.Listener()
        self.watch(watched)

    def watch(self, watched: Iterable[object]) -> None:
        """Open accounts for what the user named; with nothing named, everything met is watched."""
        for thing in watched:
            self.own_only = True
            if isinstance(thing, nn.Module):
                self.books.add_root(thing, given=True)
            elif isinstance(thing, torch.optim.Optimizer):
                self.optimizer(thing)
            elif hasattr(thing, "optimizer") and isinstance(thing.optimizer, torch.optim.Optimizer):
                self.optimizer(thing.optimizer)  # a scheduler
            elif isinstance(thing, torch.amp.GradScaler):
                pass  # scalers are seen when they act
            elif isinstance(thing, Tensor):
                self.books.open(thing)
            else:
                kinds = "modules, optimizers, schedulers, gradient scalers and tensors"
                raise TypeError(f"a ledger watches {kinds}; got {type(thing).__name__}")
        self.hook_up()

    def close(self, error: BaseException | None = None) -> None:
        """Look at everything one last time, take the hooks away."""
        with self.lock:
            self.write_all()
            settle_all(self)
            pending = [a for a in self.within_reach() if a.status == FRESH and a.deposits]
            self.pending_finite = all(a.finite and ((grad := a.grad) is None or is_finite(grad)) for a in pending)
            closelook.end(self)
            if any(account.root is None for account in self.books.accounts):
                self.books.find_wholes()
            self.finish()
            if error is not None and not isinstance(error, (SystemExit, KeyboardInterrupt, GeneratorExit)):
                self.error = f"{type(error).__name__}: {error}"
                self.error_at = _place_of(error)
            for account in self.books.accounts:
                if account.handle is not None:
                    account.handle.remove()
                    account.handle = None

    def _runs(self, account: Account, reached: set[int]) -> ModuleAccount | None:
        """The module whose calls tell whether a parameter ran: its own.

        The parts of a compiled model are not seen running. Where no gradient reached any of them, the model's own
        calls are theirs; where one did, `note_graphs` has counted those that took part.
        """
        own, root = account.module, account.root
        if root is not None and root.number not in reached and (own is None or not own.calls):
            return self.compiled_models.get(root.number, own)
        return own

    def _dead(self) -> set[Account]:
        """Matrices that held zeros at every look, as did their gradients, and hold zeros still.

        Not those that the user's code may keep at zero, by a hook or by hand.
        """
        held = [(account, one.kept) for optimizer in self.books.optimizers for account, one in optimizer.dead.items()]
        found = {account for account, kept in held if kept is not None and is_zero(kept)}
        return {account for account in found if not (account.hooks or account.given or account.by_hand)}

    def _zeroed_at(self, account: Account) -> Place | None:
        """The one line that fills a matrix with zeros, by its name."""
        word = next((w for w in account.name.split(".")[::-1] if w != "weight" and not w.isdigit()), "")
        lines = [line for file in self.journal.files() if word for line in source.zeroed_by_name(file, word)]
        return lines[0] if len(lines) == 1 else None

    def _in_own_steps(self, question: Callable[[str, int], Place | None]) -> tuple[Place, ...]:
        """What a question about the text finds in steps written by hand, and in those of the user's own optimizers."""
        steps = [one.place for one in self.journal.drafts if one.kind is Step and one.fields.get("optimizer") is None]
        lines = {(place.file, place.line) for place in steps if place is not None}
        codes = [one.code for one in self.books.optimizers if one.steps and one.code is not None]
        own = [one for one in codes if places.kind_of(one.co_filename) == places.USER]
        lines |= {(one.co_filename, max(line or 0 for *_, line in one.co_lines())) for one in own}
        found = (question(file, line) for file, line in sorted(lines))
        return tuple(dict.fromkeys(place for place in found if place is not None))

    def _where_read(self, question: Callable[[str, int], Place | None]) -> tuple[Place, ...]:
        """What a question about the text finds where the user's code takes hold of gradients."""
        lines = {(place.file, place.line) for place in self.read_at if place is not None}
        found = (question(file, line) for file, line in sorted(lines))
        return tuple(dict.fromkeys(place for place in found if place is not None))

    def _cut_by_decorator(self, account: Account) -> Place | None:
        """The decorator that keeps the graph away from what a parameter's module computes, or one around that."""
        if account.total or not account.owned:
            return None
        found = (source.without_grad_by_decorator(at) for at in self._calls_around(account))
        return next((place for place in found if place is not None), None)

    def _calls_around(self, account: Account) -> list[Place]:
        """Where a parameter's module was called, and those around it that are parts of a model themselves."""
        own = account.module
        around = [one for one in self.books.modules.values() if own is not None and one.root is own.root]
        around = [one for one in around if own and (one is own or own.name.startswith(f"{one.name}."))]
        return [one.called_at for one in around if one.called_at is not None]

    def _thrown_at(self, account: Account) -> Place | None:
        """The call of a parameter's layer, or of one around it, that throws away what it gives, or a part of that."""
        top = next((one for one in self.books.modules.values() if one.root is account.root and not one.name), None)
        parts = self._calls_around(account)
        whole = top.called_at if top is not None and account.root is not None else None
        found = (at for at in parts if source.throws_away(at.file, at.line) or source.ends_with(at.file, at.line))
        thrown = whole is not None and source.throws_away(whole.file, whole.line)
        return next(found, whole if thrown else None)

    def _listed_at(self, account: Account) -> Place | None:
        """The line that makes the plain list of another module into which the model of a parameter was put."""
        modules = list(self.books.modules.values())
        model = next((one for one in modules if one.root is account.root and not one.name), None)
        if model is None or account.root is None:
            return None
        called = (place for place in model.made_by if source.class_at(place) != model.kind)
        place = next(called, None)
        known = place is not None and source.class_at(place) in {one.kind for one in modules}
        return source.list_around(place) if place is not None and known else None

    def _misspelt(self) -> dict[str, Place | None]:
        """Attributes of parameters that were set where `requires_grad` was meant, and the line that sets each."""
        files = self.journal.files()
        found: dict[str, Place | None] = {}
        for word in {account.misspelt for account in self.books.accounts} - {""}:
            sets, reads = source.lines_with_attribute(files, word)
            if not reads:  # else it is a flag of the user's own
                found[word] = sets[0] if sets else None
        return found

    def _replaced(self) -> dict[str, Place]:
        """Models that are trained in vain, by label, and the line that put each in the place of another, if one did."""
        labels = {a.root.label for a in self.books.accounts if a.root is not None and a.total and not a.owners}
        called: dict[str, Place] = {}
        for one in self.journal.drafts if labels else ():
            if one.kind is Forward and one.place is not None and one.fields.get("model") in labels:
                called.setdefault(one.fields["model"], one.place)
        return {label: line for label, place in called.items() if (line := source.replaced(place)) is not None}

    def _helpers(self) -> tuple[HelperCall, ...]:
        """The lines of passes, steps, clears and `eval()` in functions that one line of a loop calls."""
        calls: dict[tuple[str, int], set[Place | None]] = {}
        known = (trail for one in self.journal.drafts for trail in (one.trail, *one.fields.get("trails", ())))
        for trail in (*known, *self.helped):
            if trail:
                calls.setdefault(trail[0], set()).add(source.called_in_loop(trail))
        alone = ((line, found.pop()) for line, found in calls.items() if len(found) == 1)
        return tuple(HelperCall(Place(*line), called) for line, called in alone if called is not None)

    def _kept(self, place: Place) -> Place | None:
        """Where an average that is updated at a line was given the memory of what it averages, by the text."""
        return source.only_line(closelook.own_files(self), _ASSIGNS) or source.kept(place)

    def _frozen_meanwhile(self) -> tuple[FrozenMeanwhile, ...]:
        """The functions that freeze for a while; asked where something that an optimizer holds is frozen."""
        some = any(a.owners and not a.trains for a in self.books.accounts)
        return frozen.for_a_while(closelook.own_files(self)) if some else ()

    def _unfrozen(self) -> tuple[UnfrozenModule, ...]:
        """Modules that were to be frozen or thawed by an attribute, and the line that sets it."""
        files = self.journal.files()
        found: list[UnfrozenModule] = []
        for one in self.books.modules.values():
            if (one.unfrozen or one.not_thawed) and one.root is not None:
                word, value = one.name.rpartition(".")[2], not one.unfrozen
                lines = [line for file in files if word and (line := source.sets_requires_grad(file, word, value))]
                place = lines[0] if lines else source.only_line(files, rf"\w\.requires_grad\s*=\s*{value}\b")
                name = self.books.full_name(one.root, one.name) or one.root.label
                found.append(UnfrozenModule(name, place, one.unfrozen or one.not_thawed, value))
        return tuple(found)

    def log(self) -> Log:
        """Everything so far as plain, frozen data."""
        with self.lock:
            self.write_all()
            if not self.finished:
                settle_all(self)
            if not self.finished:
                self.books.look_around()
                compiled.note(self.compiled)
            self.books.tell_apart()
            reached = {a.root.number for a in self.books.accounts if a.root and a.total}
            dead = self._dead()
            misspelt = self._misspelt()
            replaced = self._replaced()
            unchanged = self._where_read(buffers.unchanged)
            asked = making.asked_for(self.books.optimizers)
            parameters = tuple(
                ParameterFacts(
                    name=account.name,
                    owners=tuple(owner.number for owner in account.owners if owner.lasted or owner.steps),
                    let_go_at=next(
                        (asked[o.number].place for o in account.owners if not o.lasted and not o.steps), None
                    ),
                    deposits=account.total,
                    requires_grad=account.trains,
                    ran=runs.calls if (runs := self._runs(account, reached)) else 0,
                    given=account.given,
                    read=account.looked_at,
                    by_hand=account.by_hand,
                    shifted=account.shifted,
                    thawed=account.thawed,
                    stepped_by=tuple(sorted(account.stepped_by)),
                    stepped_past=tuple(sorted(account.stepped_past)),
                    taken_frozen=account.taken_frozen,
                    frozen_after=account.frozen_after,
                    came_back=account.came_back,
                    norm=bool(account.module and account.module.norm),
                    in_own_class=bool(account.module and account.module.own_forward),
                    rewritten=account.rewritten,
                    is_parameter=account.is_parameter,
                    in_model=account.attached,
                    called_at=runs.called_at if runs else None,
                    training=bool(account.module and account.module.in_training),
                    trained=account.trained,
                    cut_at=account.cut_at or self._cut_by_decorator(account),
                    cut_called_at=account.cut_called_at,
                    dropped=account.dropped and not account.total,
                    thrown_at=self._thrown_at(account) if account.owned and not account.total else None,
                    in_checkpoint=bool(runs and runs.checkpoint),
                    **_making(account),
                    listed_at=self._listed_at(account) if account.total and not account.owners else None,
                    lent=account.lent,
                    position=account.position,
                    model=account.root.label if account.root else account.early.label if account.early else "",
                    shape=account.shape,
                    frozen_zero=bool(account.frozen_zero),
                    dead=account in dead,
                    factors=tuple(one.name for one, other in self.factors if other is account),
                    zeroed_at=self._zeroed_at(account) if account in dead else None,
                    misspelt=account.misspelt if account.misspelt in misspelt else "",
                    misspelt_at=misspelt.get(account.misspelt),
                    replaced_at=replaced.get(account.root.label) if account.root else None,
                )
                for account in self.books.accounts
            )
            pending = {
                a.name: tuple(deposit.trail for deposit in a.deposits)
                for a in self.books.accounts
                if a.status == FRESH and a.deposits
            }
            files = closelook.own_files(self)
            events = tuple(draft.event() for draft in self.journal.drafts)
            return Log(
                events=events,
                parameters=parameters,
                optimizers=tuple(
                    OptimizerFacts(
                        number=entry.number,
                        label=self.books.label(entry),
                        steps=entry.steps,
                        made_at=asked[entry.number].place,
                        made=entry.made,
                        made_by=tuple(call.place for call in entry.made_by),
                        first_event=entry.first_event,
                        helper=asked[entry.number].helper,
                        grouped_at=(grouped := _first_of(source.grouped_at, entry, asked[entry.number].place)),
                        filtered_at=_first_of(source.filtered_at, entry, grouped or asked[entry.number].place),
                        picked_at=_first_of(source.picked_from_part, entry, asked[entry.number].place),
                        filled_in_vain=_first_of(source.filled_in_vain, entry, asked[entry.number].place),
                        follows=entry.follows,
                        moved=not entry.steps and entry.has_moved(),
                        passed_by=wrappers.passed_by(entry),
                        empty_group=entry.empty_group,
                        without_gradients=making.steps_without_gradients(entry.ref()),
                        by_dimensions=making.by_dimensions(asked[entry.number].place),
                        used_up_at=_first_of(source.used_up_at, entry, asked[entry.number].place)
                        if entry.empty_group
                        else None,
                    )
                    for entry in self.books.optimizers
                ),
                schedules=tuple(
                    ScheduleFacts(
                        one.type,
                        one.optimizer,
                        one.length,
                        one.steps,
                        one.place,
                        one.named,
                        timetables.length_in_steps(files, one.kind),
                        one.in_epochs,
                        one.made_at,
                    )
                    for one in self.books.schedules.values()
                )
                + clocks.schedules(self.books.optimizers),
                doubled_schedules=clocks.doubled(self),
                schedules_anew=clocks.anew(self),
                **told.facts(self),
                window=self.window,
                pending=pending,
                pending_finite=self.pending_finite,
                pending_at=self.progress.last.draft.place if self.progress.last else None,
                finished=self.finished and not self.stopped,
                error=self.error,
                error_at=self.error_at,
                distributed=dict(self.sync),
                dropped=self.journal.dropped,
                bare_states={
                    one.name or (one.root.label if one.root else "a cell"): one.bared_at or one.called_at
                    for one in self.books.modules.values()
                    if one.bare and not one.carried
                },
                bare_norms=normed.facts(self),
                shallow_copies=tuple(self.books.shallow),
                graphless=graphless.facts(self),
                empty_norms=modes.empty_norms(self),
                taken_back=undone.taken_back(self),
                withdrawn=undone.withdrawn(self),
                hooks_scale=self.any_hook_scales,
                noisy_teachers=modes.noisy_teachers(self),
                unseen_writes=unseen.facts(self),
                idle_scaler=self.idle_scaler and not self.progress.scaling,
                without_graph=tuple(self.without_graph.values()),
                handed=handed.facts(self),
                own_averages=tuple(
                    OwnAverage(tuple(dict.fromkeys(a.name for a in held if a is not None)), place, self._kept(place))
                    for place, held in self.own_averages.items()
                    if place is not None and None not in held
                ),
                averages=blends.facts(self),
                drawn_back=blends.drawn_back(self),
                loose=loose.found(self),
                low_rank=lowrank.facts(self),
                grown=tuple(
                    GrownGradients(place, tuple(account.name for account in one.accounts), len(one.passes))
                    for place, one in self.grown.items()
                    if place is not None and not one.stepped and any(map(source.gathers_gradients, one.read_at))
                ),
                fresh=loose.made_anew(self),
                crossed=tuple(CrossedRows(place, rows) for place, rows in self.crossed.items()),
                drawn_at=self.drawn_at[0] if len(self.drawn_at) > 1 else None,
                forgotten=self._in_own_steps(buffers.forgotten),
                rebound=(rebound := tuple(p for p in buffers.rebound(self.journal.files()) if p not in unchanged)),
                stepped_in_vain=any(".grad" in place.code for place in rebound),
                gone=tuple(
                    GoneGradients(place, one.account.name, one.times)
                    for place, one in self.gone.items()
                    if one is not None and source.uses_gradients(place.file, place.line)
                ),
                stand_ins=tuple(self.stand_ins.values()),
                counted=self._in_own_steps(buffers.counts_parameters),
                unchanged=unchanged,
                thrown_away=self._where_read(buffers.thrown_away),
                overwritten=overwritten.found(files, events),
                unfrozen=self._unfrozen(),
                meanwhile=self._frozen_meanwhile(),
                helpers=self._helpers(),
                late_hooks=tuple(self.late_hooks.values()),
                redrawn_at=self.redrawn_at,
                steps_by_hand=self.progress.steps_by_hand,
                unknown_reference=tuple(self.reference_names or ()),
                compiled=tuple(sorted(self.compiled)),
            )


def _making(account: Account) -> dict[str, Any]:
    """How a parameter was made, or the module that holds it, in the words of `ParameterFacts`."""
    put, module = account.put, account.module
    if put is not None:
        return {"made_at": put.place, "made_by": put.by, "made": put.when, "made_after": put.after}
    if module is None:
        return {"made_by": account.made_by}
    of_it = {"made_at": module.made_at, "made_by": module.made_by, "made": module.made}
    return {**of_it, "made_after": module.made_after}


def _first_of(look: Callable[[Place], T | None], entry: OptimizerAccount, asked_at: Place | None) -> T | None:
    """What is found where an optimizer was made, else where it was asked for."""
    lines = [*(call.place for call in entry.made_by[:1]), asked_at]
    return next((found for one in lines if one is not None and (found := look(one)) is not None), None)


def _place_of(error: BaseException) -> Place | None:
    found = None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if places.kind_of(file) == places.USER:
            found = Place(file, trace.tb_lineno, trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return found
