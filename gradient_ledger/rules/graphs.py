"""What is in the graph of a loss and should not be, and what should be and is not."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from gradient_ledger.events import Accumulate, Backward, Clear, Ending, Finding, Forward, ParameterFacts, Place, Reach
from gradient_ledger.rules.view import BY_HAND, View, Window, finding, some, steps_of, times


def written_midway(view: View) -> Iterator[Finding]:
    """Weights that are written between a forward and its backward."""
    lines: dict[Place | None, list[Backward]] = {}
    for one in view.of(Backward):
        if one.written:
            lines.setdefault(one.written_at, []).append(one)
    for where, hits in lines.items():
        if len(hits) > 1:
            names = list(dict.fromkeys(name for one in hits for name in one.written))
            yield finding(
                "weights-written-before-backward",
                "warning",
                where,
                f"{some(names)} {'was' if len(names) == 1 else 'were'} not the same before the forward and at the backward of {hits[0].where.short if hits[0].where else 'a loss'}, "
                f"in {times(len(hits), 'pass')} looked at, and no step lies between: this line writes to them, where autograd "
                "does not see it, and the gradient is that of neither value.",
                names=names[:10],
                passes=[one.pass_number for one in hits][:10],
            )


def critics(view: View) -> Iterator[Finding]:
    """A policy's loss whose advantage has a graph: it trains the value too, and not towards the returns."""
    for windows in view.windows.values():
        hits: list[tuple[Window, Backward, frozenset[str]]] = []
        for window in windows:
            passes, names = view.behind(window)
            hits += [(window, one, names & set(one.critic)) for one in passes if names & set(one.critic)]
        if not hits:
            continue
        window, one, mine = hits[0]
        yield finding(
            "advantage-not-detached",
            "warning",
            one.critic_at or one.where,
            f"In this loss a log-probability is multiplied with a difference to a value that has a graph: the policy's "
            f"loss also put gradients on {some(sorted(mine))}, and {_used(window, mine, 'them')}.",
            steps=steps_of(list({w.number: w for w, _, _ in hits}.values())),
            names=sorted(mine)[:10],
        )


def _used(window: Window, names: Collection[str], it: str = "it") -> str:
    """What a step did with gradients that stand on these parameters: it used them, or such as were put on its own."""
    if window.names >= set(names):
        return f"the step used {it}"
    return "the step used what the code has put on the parameters of the same names"


_REACHED = {
    "bootstrap": (
        "target-not-detached",
        "This loss compares a value with a reward and a discounted value that has a graph: its gradient also reached "
        "{names} through that target, and {used}.",
    ),
    "teacher": (
        "target-not-detached",
        "This loss reaches {names} through nothing but what the other side is to match: its gradient moves the "
        "teacher towards the student, and {used}.",
    ),
    "mirror": (
        "target-not-detached",
        "This loss does nothing but compare a prediction from each of two views with the other view, and no side is "
        "detached: its gradient also reached {names} through what is to be predicted, and {used}.",
    ),
    "half mirror": (
        "target-not-detached",
        "This loss compares a prediction from each of two views with the other view, which has no graph the one time and "
        "has one the other time: its gradient also reached {names} through what is to be predicted.",
    ),
    "twice": (
        "target-not-detached",
        "This loss compares rows of a table twice with what they stand for, and at least one of the times both sides "
        "have a graph: the gradient of that term reached the table and {names}, as that of the other term did.",
    ),
    "draw": (
        "drawn-with-zero-gradient",
        "Between this loss and {names} stands torch.normal(), whose gradient is exactly zero: on that way "
        "they got nothing.",
    ),
    "undone": (
        "straight-through-not-detached",
        "This line adds what it takes away again, with its graph both times: the two gradients cancel exactly, and on "
        "that way {names} got nothing.",
    ),
    "turned": (
        "straight-through-turned",
        "This line adds a row of a table and a constant: its value is what was to be quantised, and what follows gives its "
        "gradient to {names}, none to what was quantised.",
    ),
    "score": (
        "score-of-moving-sample",
        "This loss weighs the log-probability of a sample that has a graph, and that moves with the mean: the distance "
        "of the two depends on no mean, and on that way {names} got a gradient of zeros.",
    ),
    "itself": (
        "compared-with-itself",
        "This loss takes the difference of {names} and what should be its older value, but that is the parameter "
        "itself, or a copy with its graph: the two gradients cancel exactly, and on that way it got nothing.",
    ),
    "label": (
        "target-not-detached",
        "This loss holds {names} to labels that were guessed with a graph: its gradient also moves the labels towards what "
        "is to be trained by them, and {used}.",
    ),
    "probe": (
        "probe-trains-encoder",
        "What is given here to a probe, by its name, has a graph: the loss of the probe reached {names} as well, and {used}.",
    ),
    "anchor": (
        "compared-with-itself",
        "This loss holds {names} to a constant, but every difference was exactly zero here, and had been before the "
        "weights last moved: the constant lies in their memory, as p.data and p.detach() do, or is taken anew before "
        "every pass. On that way they got nothing.",
    ),
}
"""By the way on which parameters were reached: id, and what was seen."""


def reached(view: View) -> Iterator[Finding]:
    """A loss that reaches parameters through what should be a constant, or through what gives a gradient of zeros."""
    found: dict[tuple[str, object], tuple[Reach, Place | None, list[Window], set[str]]] = {}
    for window in view.all_windows:
        passes, names = view.behind(window)
        for one in passes:
            for reach in one.reaches:
                mine = names & set(reach.names)
                if mine and not (reach.how == "teacher" and _learns_too(window, mine)):
                    hit = found.setdefault((reach.how, reach.where or one.where), (reach, one.where, [], set()))
                    hit[2].append(window)
                    hit[3].update(mine)
    for reach, where, windows, reached_names in found.values():
        name, text = _REACHED[reach.how]
        yield finding(
            name,
            "warning",
            reach.where or where,
            text.format(names=some(sorted(reached_names)), used=_used(windows[0], reached_names)),
            steps=steps_of(list({w.number: w for w in windows}.values())),
            names=sorted(reached_names)[:10],
        )


def _learns_too(window: Window, names: frozenset[str]) -> bool:
    """Whether a backward of another line trains a teacher in this window: it learns beside its student."""
    lines = {one.where for one in window.of(Backward) if any(reach.how == "teacher" for reach in one.reaches)}
    others = {one.pass_number for one in window.of(Backward) if one.where not in lines}
    return any(one.pass_number in others and names & set(one.names) for one in window.of(Accumulate))


def ignored(view: View) -> Iterator[Finding]:
    """A backward of the user's own that ignores what comes down to it."""
    lines: dict[Place, list[Backward]] = {}
    for one in view.of(Backward):
        if one.ignored_at is not None:
            lines.setdefault(one.ignored_at, []).append(one)
    for where, passes in lines.items():
        yield finding(
            "upstream-gradient-ignored",
            "warning",
            where,
            f"This backward() never reads the gradient it is given. In {times(len(passes), 'pass')} looked at that was "
            "not 1, and what it returned was handed on without that factor.",
            steps=sorted({one.step for one in passes})[:10],
        )


def unreversed(view: View) -> Iterator[Finding]:
    """A layer that should reverse gradients, and hands them on as they point."""
    lines: dict[Place, list[Backward]] = {}
    for one in view.of(Backward):
        if one.unreversed_at is not None:
            lines.setdefault(one.unreversed_at, []).append(one)
    for where, passes in lines.items():
        if len(passes) > 1:
            yield finding(
                "gradient-not-reversed",
                "warning",
                where,
                f"By its name this layer reverses gradients. In {times(len(passes), 'pass')} looked at, what it handed on "
                "pointed where what it was given did.",
                steps=sorted({one.step for one in passes})[:10],
            )


def squashed(view: View) -> Iterator[Finding]:
    """A loss that takes probabilities for scores: they are squashed once more, and so is their gradient."""
    lines: dict[tuple[Place | None, str], list[Backward]] = {}
    for one in (each for window in view.all_windows for each in view.behind(window)[0]):
        if one.squashed:
            lines.setdefault((one.squashed_at, one.squashed), []).append(one)
    for (where, word), passes in lines.items():
        yield finding(
            "probabilities-as-scores",
            "warning",
            where,
            f"A loss takes what a {word} gave for scores and squashes it once more, in {times(len(passes), 'pass')} looked "
            "at: its scores all lie between 0 and 1, and its gradient went through both.",
            f"Give the loss the scores as they are, without the {word}; what draws or shows probabilities takes it there.",
            steps=sorted({one.step for one in passes})[:10],
        )


def flat_ratios(view: View) -> Iterator[Finding]:
    """A ratio of probabilities that is 1 in every step, for the old ones are computed anew each time, or are the new."""
    lines: dict[Place, list[Backward]] = {}
    for one in view.of(Backward):
        if one.flat_ratio and one.ratio_at is not None:
            lines.setdefault(one.ratio_at, []).append(one)
    for where, passes in lines.items():
        steps = sorted({one.step for one in passes})
        if len(steps) > 2 and any(view.windows.values()):
            yield finding(
                "ratio-always-one",
                "warning",
                where,
                (
                    "In this loss's ratio of new to old probabilities, the old have a graph, too, and it reaches the same "
                    f"parameters: before each of {times(len(steps), 'step')} looked at, all ratios were exactly 1, and "
                    "the gradients of the two take each other away."
                    if all(one.ratio_cancels for one in passes)
                    else "This line computes the old probabilities with the weights that are about to step: before each "
                    f"of {times(len(steps), 'step')} looked at, all ratios of new to old were exactly 1."
                ),
                steps=steps[:10],
            )


def idle_summands(view: View) -> Iterator[Finding]:
    """A summand of the loss without a graph: it changes the loss that is printed, and no gradient."""
    lines: dict[object, list[Backward]] = {}
    for one in view.of(Backward):
        if one.idle_summand:
            lines.setdefault((one.idle_summand, one.idle_at), []).append(one)
    for passes in lines.values():
        one = next((p for p in passes if p.graphless_grad is not None), passes[0])
        if one.graphless_grad is not None:
            yield finding(
                "penalty-without-graph",
                "warning",
                one.graphless_grad,
                f"The loss {'holds' if one.idle_inner else 'adds'} {one.idle_summand} ({one.idle_at}), computed from what "
                "this call returns: without create_graph=True that has no graph, and "
                f"{'is a constant to backward()' if one.idle_inner else 'the summand moves no parameter'}.",
                summand=one.idle_summand,
            )
            continue
        if one.idle_names:
            stepped = _are_stepped(view, one.idle_names, one.number)
            if not stepped or _are_thrown_away(view, passes):
                fate = "and no step of these uses what it leaves there" if stepped else "and no optimizer steps these"
                yield finding(
                    "summand-without-graph",
                    "warning",
                    one.idle_at,
                    f"{one.idle_summand} is a part of the loss whose gradient reaches {some(one.idle_names)} and nothing "
                    f"else, {fate}: it moves no parameter.",
                    summand=one.idle_summand,
                    names=list(one.idle_names)[:10],
                )
            continue
        values = {p.idle_value for p in passes if p.idle_value is not None}
        if len(passes) > 1 and (len(values) > 1 or (one.idle_cut and values != {0.0})):
            changes = "changes from step to step and " if len(values) > 1 else ""
            yield finding(
                "summand-without-graph",
                "warning",
                one.idle_at,
                f"{one.idle_summand} is a part of the loss that {changes}has no graph, in any of "
                f"{times(len(passes), 'pass')} looked at: it moves no parameter.",
                summand=one.idle_summand,
                values=[p.idle_value for p in passes],
                may_be_cut_at=one.idle_cut_at,
            )


def bare_numbers(view: View) -> Iterator[Finding]:
    """A number without a graph that a loss adds, another one each time, where the text has not told of it before."""
    told = any(one.idle_summand or one.apart for one in view.of(Backward))
    for one in view.log.graphless if not told and any(view.windows.values()) else ():
        yield finding(
            "summand-without-graph",
            "warning" if one.taken_out else "info",
            one.where,
            f"A number that changes from step to step is added to the loss here, and has no graph, in any of "
            f"{times(len(one.values), 'pass')} looked at: it moves no parameter{'' if one.taken_out else ' that is trained; that may be meant'}.",
            values=list(one.values)[:10],
            may_be_cut_at=one.cut_at,
        )


def parts(view: View) -> Iterator[Finding]:
    """A part of a sum of losses goes backward, and neither the sum nor its rest ever does."""
    lines: dict[Place | None, list[Backward]] = {}
    for one in view.of(Backward):
        if one.part_of is not None:
            lines.setdefault(one.where, []).append(one)
    for where, passes in lines.items():
        names = {one.part_of for one in passes}
        if len(passes) > 1 and len(names) == 1 and names != {""}:
            name = names.pop()
            yield finding(
                "rest-without-backward",
                "warning",
                where,
                f"What goes backward here is a part of {name}, in each of {times(len(passes), 'pass')} looked at. The rest of "
                f"that sum has a graph, too, and goes backward nowhere: it moves no parameter.",
                f"Call backward() on {name}, if all of it is to be trained.",
                total=name,
            )


def fresh_leaves(view: View) -> Iterator[Finding]:
    """A summand of the loss whose graph begins with itself: values were made a tensor of their own."""
    for one in view.log.fresh:
        if any(view.windows.values()):
            yield finding(
                "summand-without-graph",
                "warning",
                one.made_at or one.where,
                f"In each of {times(one.looks, 'pass')} looked at, the loss of {one.where.short if one.where else 'a line'} "
                "holds a tensor that was made for it with requires_grad=True. Its graph begins there: what its values were "
                "computed from gets no gradient, and its own is read by nobody.",
                "Keep the tensors: torch.stack(losses).mean() has a graph, torch.tensor(losses).mean() has none, whatever "
                "requires_grad says.",
                looks=one.looks,
            )


def _are_stepped(view: View, names: tuple[str, ...], after: int) -> bool:
    """Whether anything steps one of these parameters after that event, or might."""
    mine = [p for p in view.log.parameters if p.name in names]
    last = [windows[-1].step.number for p in mine for one in p.owners if (windows := view.windows.get(one))]
    return BY_HAND in view.windows or any(p.read or p.given for p in mine) or any(number > after for number in last)


def _are_thrown_away(view: View, passes: list[Backward]) -> bool:
    """Whether the steps of what a summand alone reaches, as the first of them tell, used none of these passes."""
    mine = [p for p in view.log.parameters if p.name in passes[0].idle_names]
    steps = [w.step for owner in {o for p in mine for o in p.owners} for w in view.windows.get(owner, ())]
    used = {number for step in steps for number in step.pass_numbers}
    known = [one.pass_number for one in passes if one.pass_number < max(used, default=0)][:3]
    return len(known) > 1 and used.isdisjoint(known) and BY_HAND not in view.windows and not any(p.given for p in mine)


def values_apart(view: View) -> Iterator[Finding]:
    """What a loss adds that was computed from something without a graph, as a critic's value of an action, or what a
    discriminator says of an image: it trains the critic, which never steps on that, and nothing of what acts."""
    lines: dict[Place | None, list[tuple[Window, Backward]]] = {}
    for window in view.all_windows:
        for one in view.passes_of(window):
            if one.apart and not window.names & set(one.apart):
                lines.setdefault(one.where, []).append((window, one))
    for hits in lines.values():
        window, one = hits[0]
        apart = [p for p in view.log.parameters if p.name in one.apart]
        fates = {each.pass_number: _fate(view, each, {o for p in apart for o in p.owners}) for _, each in hits}
        thrown = sum(isinstance(fate, Clear) for fate in fates.values())
        stepped = BY_HAND in view.windows or any(isinstance(fate, Ending) for fate in fates.values())
        if thrown < 2 or stepped or any(p.by_hand or p.given for p in apart):
            continue
        yield finding(
            "summand-without-graph",
            "warning",
            one.apart_at or one.where,
            f"The loss adds a value whose gradient reaches {some(one.apart)} and nothing that "
            f"{view.label(window.optimizer)} holds, and that gradient was cleared before any step, after "
            f"{times(thrown, 'pass')} looked at: what the value was computed from has no graph.",
            "If the value is to train what acts, do not detach that on its way in; draw an action with rsample().",
            names=list(one.apart)[:10],
            steps=steps_of(list({w.number: w for w, _ in hits}.values())),
            last_called_at=_last_call(window, one, apart),
        )


def _last_call(window: Window, one: Backward, apart: list[ParameterFacts]) -> Place | None:
    """Where the model that stands apart ran last before a backward pass."""
    models = {p.model for p in apart}
    calls = [e.where for e in window.of(Forward) if e.number < one.number and e.model in models]
    return calls[-1] if calls else None


def _fate(view: View, one: Backward, owners: set[int]) -> Clear | Ending | None:
    """What became of the gradients that a pass put on what stands apart: they were cleared, or stepped on."""
    names = set(one.apart)
    for event in view.after(one.number):
        if isinstance(event, Ending) and event.optimizer in owners:
            return event
        if isinstance(event, Clear) and names & set(event.lost_names):
            return event
    return None


def adapted(view: View) -> Iterator[Finding]:
    """An outer step that also uses the gradients of the inner loop, which went through copies with a graph."""
    for optimizer, windows in view.windows.items():
        hits: list[tuple[Window, list[Backward]]] = []
        for window in windows:
            numbers = {number for one in view.passes_of(window) for number in one.adapted}
            inner = [one for one in view.passes_of(window) if one.pass_number in numbers]
            hits += [(window, inner)] if inner else []
        if hits:
            window, inner = hits[0]
            yield finding(
                "inner-gradients-in-outer-step",
                "warning",
                inner[0].where,
                f"The weights of a later loss are made from the gradients of this backward(), and it also put gradients on "
                f"the parameters that they are copies of: the step of {view.label(optimizer)} used "
                f"{times(len(inner), 'such pass')} together with the later ones, in {times(len(hits), 'window')} looked at.",
                steps=steps_of([w for w, _ in hits]),
            )


def redrawn(view: View) -> Iterator[Finding]:
    """A checkpoint whose second run drops out other numbers than its first."""
    if view.log.redrawn_at is not None and any(view.windows.values()):
        yield finding(
            "checkpoint-draws-again",
            "error",
            view.log.redrawn_at,
            "This checkpoint does not keep the random state, and dropout runs inside it: the gradients are those of other "
            "random numbers than the loss.",
        )


def all_pairs(view: View) -> Iterator[Finding]:
    """A column beside a vector in a loss: every row meets every other."""
    for one in view.log.crossed:
        if any(view.windows.values()):
            yield finding(
                "loss-over-all-pairs",
                "warning",
                one.where,
                f"A column of shape ({one.rows}, 1) and a vector of shape ({one.rows},) meet in this loss. Broadcasting makes "
                f"{one.rows} by {one.rows} of them: each entry of one stands beside all of the other, not beside its own.",
                rows=one.rows,
            )


def bare_states(view: View) -> Iterator[Finding]:
    """A recurrent cell whose state leaves the graph at every step of a sequence."""
    for name, where in view.log.bare_states.items():
        if any(view.windows.values()):
            yield finding(
                "state-without-graph",
                "warning",
                where,
                f"{name} runs several times for one backward(), and the state it gets from its last run never has a graph: "
                "no gradient goes back further than one step of the sequence.",
                cell=name,
            )


def bare_norms(view: View) -> Iterator[Finding]:
    """Vectors divided by a norm without its graph: they have length 1, and a gradient as if they had not been divided.

    A norm may be meant as a constant; where the same loss divides by norms with their graph, this one was not.
    """
    for one in view.log.bare_norms:
        if any(view.windows.values()):
            also = "; the same loss also divides by norms that have one" if one.beside else ""
            yield finding(
                "norm-without-graph",
                "warning" if one.beside else "info",
                one.where,
                "This takes a norm out of its graph by .data, and vectors are divided by it that then have length 1, in "
                f"{times(one.passes, 'pass')} looked at: their gradient keeps what points along them{also}.",
                passes=one.passes,
            )


def unseen_writes(view: View) -> Iterator[Finding]:
    """Results and inputs that are written into behind autograd's back, and whose backward comes after that."""
    for one in view.log.unseen_writes:
        if any(view.windows.values()):
            yield finding(
                "result-written-by-data",
                "warning",
                one.where,
                f"This line writes into a tensor through .data, and {times(one.passes, 'pass')} looked at went backward "
                "through what it had been before, or multiplied with what it is now: the gradient is that of neither.",
                passes=one.passes,
            )


def layers_without_graph(view: View) -> Iterator[Finding]:
    """A layer inside a model that runs under `no_grad()`, on an input that has a graph."""
    for one in view.log.without_graph:
        if any(view.windows.values()):
            yield finding(
                "layer-under-no-grad",
                "warning",
                one.opened_at,
                f"{one.layer} runs under no_grad() with an input that has a graph, and its output goes on beside what has "
                f"one: on this way no gradient reaches what computed {one.given}.",
                layer=one.layer,
                layer_called_at=one.where,
            )


def handed_states(view: View) -> Iterator[Finding]:
    """A recurrent network that begins with another one's state, which has left its graph."""
    for one in view.log.handed:
        if any(view.windows.values()):
            yield finding(
                "state-handed-without-graph",
                "warning",
                one.where,
                f"{one.taker} begins with the state of {one.giver}, which has no graph there, in each of "
                f"{times(one.passes, 'pass')} looked at that trained both: on this way no gradient reaches {one.giver}.",
                giver=one.giver,
                taker=one.taker,
            )


def dead_products(view: View) -> Iterator[Finding]:
    """Two matrices of zeros, one behind the other: the gradient of each is a product with the other."""
    for optimizer, windows in view.windows.items():
        neighbours = _neighbours(view, optimizer)
        pairs = [(a, b) for a, b in neighbours if a.dead and b.dead and a.name in b.factors]
        names = [one.name for one in view.log.parameters if any(one in pair for pair in pairs)]
        if not pairs:
            continue
        one = pairs[0][0]
        steps = next((e.steps for e in view.log.optimizers if e.number == optimizer), len(windows))
        yield finding(
            "both-factors-zero",
            "warning",
            one.zeroed_at or one.called_at,
            f"{some(names)} hold nothing but zeros, and so did each of their gradients that was looked at, from the first "
            f"of {times(steps, 'step')} of {view.label(optimizer)}: neither of two factors moves while "
            "the other one is zero.",
            names=names[:10],
        )


def adapted_bases(view: View) -> Iterator[Finding]:
    """Adapters that begin at zero, beside weights that are trained as well."""
    known = {p.name: p for p in view.log.parameters}
    for optimizer, windows in view.windows.items():
        whole = [w for w in windows if not w.skipped]
        hits = []
        for one in view.log.low_rank:
            moved = [set(w.step.names) for w in whole if one.base in w.step.names]
            # What also trains without the adapter, as one domain of several may, is no base that was to be kept.
            if len(moved) > 1 and all(names.issuperset(one.pair) for names in moved):
                hits.append(one)
        if optimizer == BY_HAND or not hits:
            continue
        pair = [known[name] for name in hits[0].pair if name in known]
        made = next((e for e in view.log.optimizers if e.number == optimizer), None)
        functions = {(place.file, place.function) for place in made.made_by} if made is not None else set()
        put = next((p for one in pair for p in one.made_by if (p.file, p.function) in functions), None)
        bases = [one.base for one in hits]
        yield finding(
            "adapter-beside-trained-weight",
            "warning",
            put or (made.made_at if made is not None else None),
            f"Two narrow matrices, {' and '.join(hits[0].pair)}, whose product begins at zero, stand beside {bases[0]}"
            f"{f', and so do others beside {len(bases) - 1} more' if len(bases) > 1 else ''}. Steps of "
            f"{view.label(optimizer)} move what they stand beside as well, which an adapter is there to leave as it is.",
            names=bases[:10],
            pairs=[list(one.pair) for one in hits][:10],
        )


def frozen_zeros(view: View) -> Iterator[Finding]:
    """A branch that was made to begin at zero, and frozen there."""
    trained = {p.model for p in view.log.parameters if p.owners and p.deposits}
    zeros = [p for p in view.log.parameters if p.frozen_zero and p.ran and p.in_model and p.model in trained]
    frozen = {p.model for p in view.log.parameters if not (p.frozen_zero or p.requires_grad or p.owners)}
    # One that alone is frozen is meant as a constant, and the twin of what is trained is a copy.
    zeros = [p for p in zeros if p.model in frozen and not any(_are_twins(p, other) for other in view.log.parameters)]
    if zeros and any(view.windows.values()):
        yield finding(
            "frozen-at-zero",
            "warning",
            view.log.frozen_at or zeros[0].made_at,
            f"Frozen zeros in parts that run beside what is trained, and in no optimizer: {some(p.name for p in zeros)}. "
            "They stay so in every step, whatever stands beside them learns.",
            names=[p.name for p in zeros][:10],
        )


def _are_twins(one: ParameterFacts, other: ParameterFacts) -> bool:
    """Whether the other is trained, and its name is the same but for that of a model around it: a target network's is."""
    mine, its = one.name.split("."), other.name.split(".")
    alike = one.shape == other.shape and len(mine) == len(its) and bool(other.owners)
    return alike and mine[-2:] == its[-2:] and sum(a != b for a, b in zip(mine, its, strict=True)) == 1


def _neighbours(view: View, optimizer: int) -> Iterator[tuple[ParameterFacts, ParameterFacts]]:
    """The matrices of an optimizer that stand next to each other in a model, and that can be multiplied."""
    mine = [p for p in view.log.parameters if optimizer in p.owners and len(p.shape) > 1 and p.model]
    for one, other in pairwise(sorted(mine, key=lambda p: (p.model, p.position))):
        (rows, columns), (rows_there, columns_there) = one.shape[:2], other.shape[:2]
        if one.model == other.model and (rows == columns_there or columns == rows_there):
            yield one, other


def drawn(view: View) -> Iterator[Finding]:
    """A variational code that is drawn without a graph."""
    if view.log.drawn_at is not None and any(view.windows.values()):
        yield finding(
            "sampled-without-graph",
            "warning",
            view.log.drawn_at,
            "This sample() is drawn from a distribution that has a graph, and has none itself. Other terms of the "
            "loss train the distribution; what is computed from the sample does not.",
        )
    beside = view.log.drawn_beside
    if view.log.drawn_at is None and beside is not None and any(view.windows.values()):
        yield finding(
            "sampled-without-graph",
            "warning",
            beside[0],
            f"This sample() gives a name a value without a graph, and {beside[1].short} gives the same name one by "
            "rsample(): what is computed from this value trains nothing that it was drawn by.",
        )
