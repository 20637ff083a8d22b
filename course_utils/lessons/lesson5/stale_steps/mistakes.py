"""What is often done instead in exercise 5.9."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from course_utils.checks.mistakes import mistake
from course_utils.lessons.lesson5.traces import all_named, has_two_optimizers
from course_utils.lessons.trace import TraceEvent

Events = Sequence[TraceEvent]


@dataclass
class _Held:
    """What gradients hold while the trace is walked through."""

    written: set[str] = field(default_factory=set)
    """Those that hold anything."""
    used: set[str] = field(default_factory=set)
    """Those that hold something a step has used."""
    new: set[str] = field(default_factory=set)
    """Those that hold something written since their last step."""
    ever: set[str] = field(default_factory=set)
    """Those that were written at any time, cleared since or not."""


@dataclass(frozen=True)
class _Step:
    """A step when it comes: its number, its event, the gradients it names, and what is held."""

    number: int
    event: TraceEvent
    names: set[str]
    held: _Held


def _used_after(step: _Step) -> set[str]:
    return step.held.used | step.names & step.held.written


def _steps(events: Events, used_after: Callable[[_Step], set[str]] = _used_after) -> Iterator[_Step]:
    """The steps of a trace; `used_after` says what counts as used behind each."""
    held, number = _Held(), 0
    for event in events:
        names = set(event["names"])
        if event["kind"] == "accumulate":
            held.written |= names
            held.new |= names
            held.ever |= names
        elif event["kind"] == "clear":
            held.written -= names
            held.used -= names
            held.new -= names
        elif event["kind"] == "step":
            step = _Step(number, event, names, held)
            yield step
            held.used = used_after(step)
            held.new -= names
            number += 1


def _those(
    events: Events, stale: Callable[[_Step], bool], used_after: Callable[[_Step], set[str]] = _used_after
) -> list[int]:
    return [step.number for step in _steps(events, used_after) if stale(step)]


def _right(step: _Step) -> bool:
    return bool(step.names & step.held.used)


# ------------------------------------------------------------------ what counts as old


@mistake(
    "Sums of old and new are left out",
    "Missing are steps that use a gradient which holds something old and something new.",
    "backward adds. What does a gradient hold after a write that no clear went before?",
    "A backward ran since the last step, so the gradient looks fresh.",
)
def sums_left_out(events: Events) -> list[int]:
    return _those(events, lambda step: bool(step.names & step.held.used - step.held.new))


@mistake(
    "Steps on something old alone are left out",
    "Missing are steps that use something old to which nothing was written since.",
    "Two steps with no backward between them: what does the second one use?",
    also=(
        lambda events: _those(events, lambda step: _right(step) and bool(step.names & step.held.new)),
        lambda events: _those(events, lambda step: _right(step) and bool(step.held.new)),
    ),
)
def old_alone_left_out(events: Events) -> list[int]:
    return _those(events, lambda step: bool(step.names & step.held.used & step.held.new))


@mistake(
    "Steps on old and new gradients together are left out",
    "Missing are steps that name some gradients which hold something old, and others which do not.",
    "One old gradient is enough. Which question do you ask of the names of a step: any, or all?",
    also=(
        lambda events: _those(events, lambda step: bool(step.names) and step.names <= step.held.used),
        lambda events: _those(
            events,
            lambda step: bool(step.names & step.held.written) and step.names & step.held.written <= step.held.used,
        ),
        lambda events: _first_name_alone(events),
    ),
)
def all_must_be_old(events: Events) -> list[int]:
    return _those(events, lambda step: _right(step) and step.names & step.held.written == step.names & step.held.used)


def _first_name_alone(events: Events) -> list[int]:
    """As where one gradient of a step is looked at."""
    return _those(events, lambda step: bool(step.names) and step.event["names"][0] in step.held.used)


@mistake(
    "Steps that find nothing old are named",
    "In the list stand steps of which no gradient holds anything old, where an earlier step named a gradient that held "
    "nothing and that was not cleared since.",
    "A step uses what its gradients hold. Ask what was written, not only which steps went before.",
)
def empty_gradients_counted(events: Events) -> list[int]:
    """A step marks all that it names as used, whether it holds anything or not."""
    used: set[str] = set()
    found, number = [], 0
    for event in events:
        names = set(event["names"])
        if event["kind"] == "clear":
            used -= names
        elif event["kind"] == "step":
            if names & used:
                found.append(number)
            used |= names
            number += 1
    return found


# ------------------------------------------------------------------ whose gradients


@mistake(
    "Missing, as if each clear emptied every gradient",
    "Where a clear names a part of the gradients, steps are missing that use something old in the others.",
    "A clear empties what it names, and nothing else.",
)
def names_of_clears_ignored(events: Events) -> list[int]:
    return _those(all_named(events, "clear"), _right)


@mistake(
    "Named, as if each step used every gradient",
    "Where steps name a part of the gradients, the list is that of a loop whose steps name all: it holds steps that find "
    "nothing old among what they name.",
    "A step uses what it names. Whose gradients are old when it comes?",
)
def names_of_steps_ignored(events: Events) -> list[int]:
    return _those(all_named(events, "step"), _right)


@mistake(
    "The list as if every event concerned every gradient",
    "On these traces the list is that of code which follows the kinds of events and looks at no names.",
    "Keep what is held for each gradient by itself.",
    also=(
        lambda events: _those(all_named(events, "accumulate", "clear", "step"), _right),
        lambda events: _those(
            all_named(events, "accumulate", "clear", "step"), lambda step: _right(step) and bool(step.held.new)
        ),
    ),
)
def names_ignored(events: Events) -> list[int]:
    return _those(all_named(events, "clear", "step"), _right)


@mistake(
    "Steps on what another optimizer used are left out",
    "Where two optimizers hold the same layer, the second one's steps use what the first one's have used. They are missing.",
    "Whose step it was that used a gradient does not matter: it has been used.",
)
def own_steps_alone(events: Events) -> list[int]:
    used: dict[tuple[str, ...], set[str]] = {}
    written: set[str] = set()
    found, number = [], 0
    for event in events:
        names = set(event["names"])
        if event["kind"] == "accumulate":
            written |= names
        elif event["kind"] == "clear":
            written -= names
            for mine in used.values():
                mine -= names
        elif event["kind"] == "step":
            mine = used.setdefault(tuple(event["names"]), set())
            if names & mine:
                found.append(number)
            mine |= names & written
            number += 1
    return found


@mistake(
    "What is old in another optimizer's gradients counts, too",
    "In the list stand steps that name nothing old, while gradients that they do not name hold something old.",
    "A step uses what it names. Of which gradients do you ask at a step, of all that are old or of its own?",
    "With one optimizer that holds everything the two are the same.",
    where=has_two_optimizers,
)
def old_ones_elsewhere_counted(events: Events) -> list[int]:
    return _those(events, lambda step: bool(step.held.used))


@mistake(
    "A clip counts as a use",
    "Where gradients are clipped before their step, that step is in the list, although no step has used them before.",
    "A clip names gradients, too, and uses none. Which kinds of events come to the line that marks something as used?",
    "In a trace without clips, what names gradients and is neither a write nor a clear is a step.",
    where=lambda spec: bool(spec["loop"] == "clipped"),
)
def clips_counted_as_uses(events: Events) -> list[int]:
    written: set[str] = set()
    used: set[str] = set()
    found, number = [], 0
    for event in events:
        names = set(event["names"])
        if event["kind"] == "accumulate":
            written |= names
        elif event["kind"] == "clear":
            written -= names
            used -= names
        else:
            if event["kind"] == "step":
                found += [number] if names & used else []
                number += 1
            used |= names & written
    return found


@mistake(
    "Old is only what the step before has used",
    "Where another optimizer steps in between, steps are missing that use what a step before that one has used.",
    "What was used stays so until it is cleared. Does your note of it grow with each step, or does each step begin a new one?",
    "With one optimizer each step uses all that there is.",
    where=has_two_optimizers,
)
def last_step_alone_remembered(events: Events) -> list[int]:
    return _those(events, _right, lambda step: step.names & step.held.written)


@mistake(
    "A step of the list does not count as an earlier one",
    "Missing are steps that use what a step of the list has used, and no step before that one.",
    "Each step uses what it names, one of the list, too. Does the line that marks gradients as used run for every step?",
    "What is old stays so, and mostly the next step is found by it all the same.",
)
def steps_of_the_list_use_nothing(events: Events) -> list[int]:
    return _those(events, _right, lambda step: step.held.used if _right(step) else _used_after(step))


@mistake(
    "In the list stands the step behind each write onto something old",
    "It stands there whether it names what was written or not; steps that use something old without a new write are missing.",
    "Look at each step by itself: which gradients does it name, and what do they hold then?",
)
def next_step_blamed(events: Events) -> list[int]:
    """The step behind a write onto something old, whether it names that or not."""
    used: set[str] = set()
    written: set[str] = set()
    found, number, onto = [], 0, False
    for event in events:
        names = set(event["names"])
        if event["kind"] == "accumulate":
            onto = onto or bool(names & used)
            written |= names
        elif event["kind"] == "clear":
            written -= names
            used -= names
        elif event["kind"] == "step":
            if onto:
                found.append(number)
            used |= names & written
            number, onto = number + 1, False
    return found


# ------------------------------------------------------------------ what is returned


def _numbers(events: Events) -> list[int]:
    return _those(events, _right)


@mistake(
    "Steps are counted for each optimizer by itself",
    "The right steps are found. Their numbers are those among the steps of the same optimizer.",
    "The number asked for counts all steps of the trace. Which of the keys step and window is that?",
)
def numbers_of_one_optimizer(events: Events) -> list[int]:
    return [step.event["window"] for step in _steps(events) if _right(step)]


@mistake(
    "Steps that use nothing were not counted",
    "The right steps are found. Their numbers leave out steps that found nothing: behind such a step each number is too "
    "small.",
    "A step that finds nothing is a step of the trace all the same. Does every one of them raise your count?",
    "There is nothing to be done for such a step, and so one goes on to the next event.",
    also=(lambda events: _numbers_among(events, lambda step: step.number > 0 or bool(step.names & step.held.written)),),
)
def empty_steps_not_counted(events: Events) -> list[int]:
    return _numbers_among(events, lambda step: bool(step.names & step.held.written))


def _numbers_among(events: Events, counted: Callable[[_Step], bool]) -> list[int]:
    """As where only such steps are counted."""
    found, number = [], 0
    for step in _steps(events):
        found += [number] if _right(step) else []
        number += counted(step)
    return found


@mistake(
    "Steps are counted from 1",
    "Each number is one too large.",
    "The first step of the trace has the number 0, as the first entry of a list.",
)
def counted_from_one(events: Events) -> list[int]:
    return [number + 1 for number in _numbers(events)]


@mistake(
    "The numbers are those of the earlier steps",
    "In the list stands the step that used the gradient before, not the one that used it again.",
    "When is a step found to use something old: when its gradients are marked, or when the next one comes?",
    also=(lambda events: [number - 1 for number in _numbers(events)],),
)
def earlier_step_named(events: Events) -> list[int]:
    found, last = [], dict[str, int]()
    for step in _steps(events):
        old = step.names & step.held.used
        if old:
            found.append(max(last[name] for name in old if name in last))
        last |= dict.fromkeys(step.names & step.held.written, step.number)
    return sorted(set(found))


@mistake(
    "Places in the trace stand for the numbers of steps",
    "The right steps are found. Their numbers count events of all kinds.",
    "Count the steps alone.",
)
def places_in_the_trace(events: Events) -> list[int]:
    places = [at for at, event in enumerate(events) if event["kind"] == "step"]
    return [places[number] for number in _numbers(events)]


@mistake(
    "The first step is there, the later ones are not",
    "The list has one number at most, though later steps use old gradients, too.",
    "Is there a return, or a break, inside the loop over the events?",
)
def first_one_alone(events: Events) -> list[int]:
    return _numbers(events)[:1]


@mistake(
    "A step stands in the list once for each of its old gradients",
    "The right numbers are there, some of them several times.",
    "One old gradient is enough to name the step; what has to end when it is found?",
)
def once_for_each_gradient(events: Events) -> list[int]:
    return [step.number for step in _steps(events) for _ in step.names & step.held.used]


@mistake(
    "No step is ever named",
    "The list is empty for every trace.",
    "Print, for the first case, what your sets or marks hold when the second step comes. Is anything put into them, and "
    "before the question is asked, or after?",
)
def nothing_named(events: Events) -> list[int]:
    return []


@mistake(
    "Every step but the first is named",
    "The list holds every step behind the first, on each trace, whatever was cleared.",
    "In the loop that never clears that is right. What does a clear change?",
    also=(lambda events: _those(events, lambda step: True),),
)
def all_but_the_first(events: Events) -> list[int]:
    return _those(events, lambda step: step.number > 0)


@mistake(
    "Behind the first step found, all later ones are named",
    "Among them are steps that use nothing old: what they name was cleared and written anew.",
    "A clear makes a fresh start: take its names out of whatever you remember.",
)
def once_old_always_old(events: Events) -> list[int]:
    numbers = _numbers(events)
    return _those(events, lambda step: bool(numbers) and step.number >= numbers[0])


@mistake(
    "A gradient that was cleared, and not written since, counts as used",
    "Steps are named that find nothing old: what they name and an earlier step has used was cleared, and nothing was "
    "written to it since.",
    "When does a gradient stop being one that was used: with the clear, or with the next write?",
)
def cleared_ones_called_used(events: Events) -> list[int]:
    """A clear is taken note of; only the next write makes the gradient fresh."""
    cleared: set[str] = set()
    written: set[str] = set()
    used: set[str] = set()
    found, number = [], 0
    for event in events:
        names = set(event["names"])
        if event["kind"] == "accumulate":
            used -= names & cleared
            cleared -= names
            written |= names
        elif event["kind"] == "clear":
            cleared |= names
            written -= names
        elif event["kind"] == "step":
            found += [number] if used & names else []
            used |= names & written
            number += 1
    return found


@mistake(
    "A gradient that was empty at a step counts as used",
    "A step names gradients which hold nothing, since nothing was written yet, or since they were cleared. They were taken "
    "for used, and so the next step that finds something in them is in the list, although nothing old is there.",
    "At a step, only those of the gradients it names that hold something have been used.",
    "In most traces each gradient that a step names holds something.",
    also=(lambda events: _those(events, _right, lambda step: step.held.used | step.names & step.held.ever),),
)
def empty_ones_called_used(events: Events) -> list[int]:
    return _those(
        events,
        lambda step: bool(step.names & step.held.used & step.held.written),
        lambda step: step.held.used | step.names,
    )
