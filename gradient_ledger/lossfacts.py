"""What a loss tells as it goes backward: how it was put together, what it reaches, and what in it has no graph."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from types import FrameType
from typing import Any

from torch import Tensor

from gradient_ledger import (
    adapted,
    cancelled,
    compared,
    crossed,
    cuts,
    divisions,
    functions,
    graph,
    graphless,
    handed,
    inside,
    lastones,
    loose,
    losses,
    lowrank,
    normed,
    places,
    policies,
    reduced,
    remainders,
    source,
    squashed,
    standins,
)
from gradient_ledger.account import EMPTY, Account
from gradient_ledger.budget import LOOKS, SAMPLES
from gradient_ledger.events import Place, Reach, Trail
from gradient_ledger.progress import Call, Pass
from gradient_ledger.state import State
from gradient_ledger.tensors import changing_print

_GUESSED = re.compile(r"(^|_)((pseudo|guess(ed)?|sharpened|soft)_?(labels?|targets?)(_\w{1,2})?|targets?_u\d?)$")
"""Names of what a model guesses and is then to say."""
_TEACHER = re.compile(
    r"teacher|(?<!un)frozen|\bema\b|\bmomentum_(encoder|net|model)|\bt_(net|model)\b|\b(net|model)_t\b"
)
"""Names of what is to be imitated."""


def look(state: State, node: Any, scaled: bool, one: Pass, frame: FrameType, loss: Any) -> None:
    """How the loss was put together, at the first passes of a line."""
    line = one.deposit.trail
    remainders.goes(state, node)
    calls = state.progress.graphless.pop(one.thread, [])
    passes = state.budget.asked(("losses", line))
    again = passes & (passes - 1) == 0
    if again:
        loose.look(state, node, one, frame)
    # A later phase may add a summand at the same line.
    seen, now = state.progress.summands_seen, state.progress.data_passes
    begins = seen.get(line) != now and state.budget.may_look(("summands", line))
    seen[line] = now
    if passes <= SAMPLES or again or begins:
        if calls and any(f"{state.mark} gradient" in inner.metadata for inner in compared.every(node)):
            # Gradients of weights in a loss that holds such with their graph are what those are to match.
            calls = [call for call in calls if call[0] not in state.progress.of_weights]
        _look_for_idle(state, one, node, places.user_frame(frame), calls)
    if passes <= SAMPLES or (state.may_cross and state.close_look is not None):
        crossed.look(state, node, frame)
    if state.handing is not None:
        handed.trained(state, node)
    if state.close_look is not None:
        normed.look(state, node)
        graphless.look(state, node, line)
    if passes <= LOOKS:
        one.draft.fields |= graph.divisions(node, scaled)
        one.draft.fields["shares"] = shares = graph.shares(node, scaled)
        one.draft.fields["counted_again"] = graph.counted_again(node, scaled)
        over, entries = graph.over_counts(node, scaled)
        if len(over) > 1:
            one.draft.fields |= {"over_counts": over, "summed_entries": entries}
        if (rows := graph.rows_again(node)) and (at := divisions.by_rows(line)) is not None:
            one.draft.fields |= {"rows_again": rows, "rows_again_at": at}
        one.draft.fields["told_divided"] = "quotient" in one.draft.fields and divisions.by_what(line) != ""
        if {"quotient", "divisor", "undivided"} & one.draft.fields.keys():
            parts = divisions.of_summands(line)
            one.draft.fields |= {"part_again": parts.again, "parts_for_windows": parts.for_windows}
            one.draft.fields["for_windows"] = divisions.for_windows(line)
        if shares or one.draft.fields.get("quotient") or one.draft.fields.get("divisor"):
            if (division := divisions.last(line)) is not None:
                one.draft.fields |= {"divided_by": division.by, "divided_at": division.place}
        if not (scaled or {"quotient", "divisor"} & one.draft.fields.keys() or shares or divisions.by_what(line)):
            one.draft.fields["value"] = _worth(loss)
        if (other := divisions.in_other_branch(line)) is not None and not shares:
            one.draft.fields |= {"divided_beside": other.place, "divided_beside_by": other.by}
        if len(shares) > 1:
            shared_at, shared_by = divisions.divided_again(line)
            one.draft.fields |= {"shared_at": shared_at, "shared_by": shared_by}
        if {"targets", "undivided", "over_counts"} & one.draft.fields.keys():
            one.draft.fields["loss_at"] = losses.made_at(places.user_frame(frame))
    _look_for_factors(state, node, line)
    if passes <= SAMPLES or again or (state.anchors and state.budget.may_look("anchors")):
        _look_for_anchors(state, one, node)
    if passes <= SAMPLES or again:  # a weight may grow
        _look_for_sums(state, one, node, scaled, frame)
    if passes > SAMPLES:
        return
    for entry in state.books.optimizers:
        if not entry.steps and entry.first_print is None:
            entry.first_print = entry.print_now()
    one.draft.fields["of_outputs"] = graph.is_of_outputs(node, scaled)
    one.draft.fields["quotient"] = divided = graph.divided(node, scaled)
    if divided > 1 and (last := lastones.taken(line)) is not None:
        one.draft.fields |= {"last_at": last, "last_of": divided}
    one.draft.fields["contrast"] = graph.contrast(node)
    marks = (inner.metadata.get(f"{state.mark} gradient") for inner in compared.every(node))
    one.draft.fields["of_gradients"] = list(dict.fromkeys(account for account in marks if account is not None))
    _note_reaches(state, one, node, places.user_frame(frame))
    remainders.look(state, node, one, frame)
    standins.look(state, places.user_frame(frame))
    one.draft.fields |= policies.look(node, line)
    critic = [account for leaf in graph.critic(node) if (account := state.books.find(leaf)) is not None]
    if critic:
        one.draft.fields |= {"critic": critic, "critic_at": source.advantage(line)}


def _worth(loss: Any) -> float | None:
    """What a loss on a CPU is worth; on a GPU asking would make the program wait."""
    return loss.item() if isinstance(loss, Tensor) and loss.is_cpu and loss.numel() == 1 else None


def _look_for_factors(state: State, node: Any, line: Trail) -> None:
    """Which matrices of zeros without a gradient are multiplied with one another: neither can begin to move."""
    count = 0
    for entry in state.books.optimizers:
        count += len(entry.dead)
    if count > 1 and state.budget.may_look(("factors", line), SAMPLES):
        dead = [account for entry in state.books.optimizers for account in entry.dead]
        dead.sort(key=lambda account: (account.root.label if account.root else "", account.position))
        found = graph.multiplied(node, [id(account.ref()) for account in dead])
        state.factors |= {(dead[at - 1], dead[at]) for at in found}


def _look_for_anchors(state: State, one: Pass, node: Any) -> None:
    """Whether the loss holds trained weights to constants that have moved with them from one look to the next."""
    moved: Any = []
    for leaf, equal in compared.distances(compared.every(node)):
        account = state.books.find(leaf)
        if account is None or not account.owned or (now := changing_print(leaf)) is None:
            continue
        if not equal:
            state.anchored.add(account)
            state.anchors.pop(account, None)
        elif account not in state.anchored and now != state.anchors.setdefault(account, now):
            moved.append(account)
    if moved:
        where = source.collected(state.journal.files(), shared=True)
        one.draft.fields["reaches"] = (Reach("anchor", tuple(moved), where),)


def _note_reaches(state: State, one: Pass, node: Any, frame: FrameType | None) -> None:
    """Whether the loss reaches trained parameters through what looks meant as a constant, or through a bare draw."""
    known, line = state.books.by_id, one.deposit.trail
    reaches: list[Reach] = []

    def note(how: Any, leaves: Iterable[int], where: Place | None) -> None:
        accounts = [account for leaf in leaves if (account := known.get(leaf)) is not None]
        if how == "teacher":  # others in no optimizer may hand their gradients on to what is in one
            accounts = [account for account in accounts if account.owned]
        if accounts:
            names: Any = sorted(accounts, key=lambda account: account.index)
            reaches.append(Reach(how, tuple(names), where))

    parts, files = compared.compared(node), state.journal.files()
    pairs = [pair for pair in parts.found if pair.is_difference]
    ends = [end for pair in pairs for end in compared.bootstraps(pair)]
    if ends and not source.says_residual(line):
        where = source.target(line, files)
        if source.target(line, files, sure=True) is None:  # a mask may be one of anything
            ends = [end for pair in pairs for end in compared.bootstraps(pair, masks=False)]
        note("bootstrap", compared.leaves(ends) if where is not None else (), where)
    mirrored = compared.leaves(compared.mirrored(parts))
    likeness = source.only_line(files, r"(?<!def )\bcosine_similarity\(") if mirrored else None
    note("mirror", mirrored, likeness or losses.computed_at(frame))
    if half := compared.half_mirrored(parts):
        note("half mirror", compared.leaves(half), source.without_detach(files) or losses.computed_at(frame))
    if twice := compared.twice(parts):
        note("twice", compared.leaves(twice), source.compared_without_detach(files) or losses.computed_at(frame))
    for leaves, others in compared.alone(parts):
        teacher = _teachers(state, leaves, others, frame)
        called = next((entry.called_at for leaf in teacher if (entry := known[leaf].module)), None)
        place = one.deposit.place
        if called is not None and place is not None and called.function != place.function:
            called = source.only_line(files, r"(?<!def )\bkl_div\(") or called  # rather than a line inside the teacher
        note("teacher", teacher, called)
    nodes = compared.every(node)
    lowrank.look(state, nodes)
    functions.watch(state, nodes, one)
    if word := squashed.squashed(nodes):
        where = squashed.written_at(files, word) or losses.made_at(frame)
        one.draft.fields |= {"squashed": word, "squashed_at": where or one.deposit.place}
    if state.drawn:
        inside.drawn_for(state, nodes)
    if made_from := adapted.made_from(state, nodes, one.deposit.number):
        one.draft.fields["adapted"] = made_from
    _look_for_parts(state, one, node, nodes, frame)
    if undone := cancelled.undone(nodes):
        files = sorted({*files, *(at.file for one in state.books.modules.values() if (at := one.called_at))})
        where = cancelled.written_at(files)
        note("undone", compared.leaves(undone) if where is not None else (), where)
    for kind in losses.SUMS.values():
        if not (turned := cancelled.turned(parts, nodes, kind)):
            continue
        files = sorted({*files, *(at.file for one in state.books.modules.values() if (at := one.called_at))})
        where = cancelled.turned_at(files, kind)
        note("turned", compared.leaves(turned) if where is not None else (), where)
    if (score := cancelled.score(node, nodes)) is not None:
        where = score.sample.metadata.get(f"{state.mark} moving") or source.weighing(line)
        note("score", compared.leaves(score.means), where)
    if compared.with_itself(nodes, named=True):
        where = source.collected(files) or source.collected(files, shared=True)
        note("itself", compared.leaves(compared.with_itself(nodes, named=where is not None)), where)
    for label, at in losses.tensors_called(frame, _GUESSED):
        guessed = compared.leaves([label.grad_fn] if label.grad_fn in nodes else [])
        # Labels that are learned for their own sake are no output of a model.
        note("label", (leaf for leaf in guessed if (held := known.get(leaf)) is not None and held.module), at)
    probed, probe_at = _probed(state, node)
    note("probe", probed, probe_at)
    drawn = compared.leaves(compared.draws(nodes))
    note("draw", drawn, source.only_line(files, r"\bnormal\((?!\s*-?[\d.]+\s*,\s*-?[\d.])") if drawn else None)
    if reaches:
        one.draft.fields["reaches"] = (*one.draft.fields.get("reaches", ()), *reaches)


def _look_for_parts(state: State, one: Pass, node: Any, nodes: Iterable[Any], frame: FrameType | None) -> None:
    """Whether the loss adds something that reaches nothing of what the rest of it trains."""
    known = state.books.by_id
    for *both, is_value in compared.apart(node):
        mine, theirs = ([a for leaf in leaves if (a := known.get(leaf)) is not None and a.owners] for leaves in both)
        owners = {owner.number for account in mine for owner in account.owners}
        # One optimizer may hold two critics, of which one is passed through to what is to be trained.
        theirs = [account for account in theirs if owners.isdisjoint(owner.number for owner in account.owners)]
        if not mine or not theirs:
            continue
        # Of two models that a loss trains each by a part, what was cleared for it is what it is to train.
        if not is_value and not (_is_cleared(theirs) and all(a.status != EMPTY for a in mine)):
            continue
        drawn = [each.place for inner in nodes if (each := inner.metadata.get(f"{state.mark} drawn")) is not None]
        where = drawn[0] if drawn else source.given_detached(state.journal.files(), one.deposit.place)
        one.draft.fields |= {"apart": mine, "apart_at": where or losses.made_at(frame)}
        return


_PROBE = re.compile(r"(^|[._])(linear_?)?probe([._]|$)", re.IGNORECASE)
"""Names of what looks at a representation and is to leave it as it is."""


def _probed(state: State, node: Any) -> tuple[set[int], Place | None]:
    """The parameters of others that a summand of a loss reaches together with those of a probe, by its name, alone: and
    where that is called."""
    known = state.books.by_id
    probes = {leaf: one for leaf, one in known.items() if one.owned and _PROBE.search(one.name)}
    ends = graph.summands(graph.without_factors(node)) if probes else []
    reached = [compared.leaves([end]) for end in ends]
    found = [leaves for leaves in reached if not leaves.isdisjoint(probes)]
    if len(found) != 1 or len(ends) < 2:
        return set(), None
    others = {leaf for leaf in found[0] if leaf not in probes and (a := known.get(leaf)) is not None and a.owned}
    probe = next(probes[leaf] for leaf in found[0] if leaf in probes)
    return others, probe.module.called_at if probe.module is not None else None


def _is_cleared(accounts: Iterable[Account]) -> bool:
    """Whether all that some optimizer holds of these is cleared."""
    held: dict[int, bool] = {}
    for account in accounts:
        for owner in account.owners:
            held[owner.number] = held.get(owner.number, True) and account.status == EMPTY
    return any(held.values())


def _teachers(state: State, leaves: set[int], others: set[int], frame: FrameType | None) -> list[int]:
    """Those of these leaves that are a teacher's, by a name, or as the only side that is in eval mode."""
    known = state.books.by_id
    mine, theirs = ([known[leaf] for leaf in one if leaf in known] for one in (leaves, others))
    named = losses.parameters_called(frame, _TEACHER)
    found = [a for a in mine if _TEACHER.search(a.name.lower()) or id(a.ref()) in named]
    if not found and mine and all(map(_is_evaluated, mine)) and not any(map(_is_evaluated, theirs)):
        found = mine
    return [id(account.ref()) for account in found if account.trains]


def _is_evaluated(account: Account) -> bool:
    """Whether the module that holds a parameter is in eval mode."""
    module = account.module.ref() if account.module is not None else None
    return module is not None and not module.training


def _drawn_for_critic(state: State, node: Any, idle: losses.Idle) -> Place | None:
    """Where the sample of a policy was drawn without a graph, where a loss has its log-probability beside a value that
    another optimizer's network gave, frozen for now: the value was to reach the policy through the sample."""
    known = [state.books.by_id.get(leaf) for leaf in idle.frozen]
    if not known or not all(account is not None and account.owners for account in known):
        return None
    marks = (inner.metadata.get(f"{state.mark} drawn") for inner in compared.every(node))
    return next((one.place for one in marks if one is not None), None)


def _look_for_sums(state: State, one: Pass, node: Any, scaled: bool, frame: FrameType) -> None:
    """What the summands of a loss are reduced by."""
    if (summed := reduced.look(node, scaled)) is not None:
        files = state.journal.files()
        at = reduced.divided_at if summed.again else reduced.of_entries_at if summed.entries else reduced.written_at
        where = at(files)
        if where is not None or not summed.again:  # a number alone may be a weight
            where = where or losses.made_at(places.user_frame(frame)) or one.deposit.place
            one.draft.fields["summed"] = replace(summed, where=where)
    if classes := reduced.over_classes(node, scaled):
        where = reduced.classes_at(state.journal.files())
        one.draft.fields["classes"] = classes
        one.draft.fields["classes_at"] = where or losses.made_at(places.user_frame(frame)) or one.deposit.place


def _decays(state: State) -> bool:
    """Whether an optimizer draws its weights towards zero by itself."""
    made = [held for entry in state.books.optimizers if (held := entry.ref()) is not None]
    return any(group.get("weight_decay") for one in made for group in one.param_groups)


def _look_for_idle(state: State, one: Pass, node: Any, frame: FrameType | None, calls: list[Call]) -> None:
    """Whether a summand of the loss has no graph."""

    def certain(inner: losses.Idle) -> bool:
        """Whether it is a derivative of what it is added to, and nothing says that it is meant as a constant."""
        reached = graph.uses(inner.beside) if inner.beside is not None else {}
        trained = [leaf for leaf in reached if (known := state.books.by_id.get(leaf)) is not None and known.owned]
        own = [trail for trail, leaves in calls if not leaves.isdisjoint(trained)]
        if inner.product is not None:
            # A coefficient has a graph of its own: what the derivative was taken of must get nothing by this summand.
            reached = graph.uses(inner.product)
            weights = state.progress.of_weights
            own = [trail for trail, leaves in calls if trail in own and trail not in weights]
            if any(not leaves.isdisjoint(reached) for trail, leaves in calls if trail in own):
                return False
        call = losses.stems_from(inner, own)
        return call is not None and not losses.is_meant(inner, own) and not losses.LEAVES.search(call.code)

    def trains(inner: Any, beside: Any) -> bool:
        """Whether an optimizer of what one summand reaches holds something that the other one reaches."""
        mine, theirs = (
            [known for leaf in graph.uses(one) if (known := state.books.by_id.get(leaf)) is not None]
            for one in (inner, beside)
        )
        owners = {owner.number for account in theirs for owner in account.owners}
        return len(mine) < 2 or not owners or any(owner.number in owners for a in mine for owner in a.owners)

    idle = losses.idle_summand(frame, node, certain, trains)
    if idle is not None and idle.of_weights and _decays(state):
        idle = None  # the optimizer does what the summand says; the loss that is printed has it, too
    stem = losses.stems_from(idle, [trail for trail, _ in calls]) if idle is not None else None
    if idle is not None and idle.graph is None and stem is None:
        drawn = _drawn_for_critic(state, node, idle)
        if drawn is not None:
            idle = idle._replace(file=drawn.file, line=drawn.line, cut=True)
        elif not idle.missed:
            idle = None
    before = state.idle.setdefault(one.deposit.trail[:1], [])
    if any(draft.fields["idle_summand"] != (idle.text if idle is not None else "") for draft in before):
        for draft in before:  # it has a graph by now: what it was computed with was frozen, or is not every time
            draft.fields["idle_summand"] = ""
        before.clear()
    if idle is not None:
        if stem is None:  # such calls are not followed for as long
            before.append(one.draft)
        one.draft.fields |= {
            "idle_summand": idle.text,
            "idle_value": idle.value,
            "idle_cut": idle.cut,
            "idle_inner": idle.inner,
            "idle_at": Place(idle.file, idle.line),
            "idle_cut_at": cuts.on_the_way(idle.file, idle.line),
            "idle_names": [known for leaf in graph.uses(idle.graph) if (known := state.books.by_id.get(leaf))]
            if idle.graph is not None
            else [],
            "graphless_grad": source.told_of_graph(stem) if stem is not None else None,
        }
