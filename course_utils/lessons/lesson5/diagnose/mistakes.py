"""What is often done instead in exercise 5.1.

Some of these take another definition than the one asked for. The others are right but on loops of one sort, to which
they give another name, whichever it is: what leads there is as varied as what learners write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from course_utils.checks.mistakes import Code, Mistake, mistake
from course_utils.lessons.lesson5.diagnose.answers import (
    CLEARED,
    FAULTS,
    OLD_ALONE,
    SUM,
    THROWN_AWAY,
    Events,
    another_is_cleared,
    are,
    clips_of_old,
    first_of,
    holds,
    right,
    steps_on_nothing,
    stories,
)
from course_utils.lessons.lesson5.traces import all_named

Name = str | None
Sort = Callable[[Events], bool]
_OF_SUMS = ("zeroed-once-per-epoch", "one-of-two-optimizers-zeroed", "never-zeroed")

# ------------------------------------------------------------------ another definition


@mistake(
    "No fault is ever named",
    "The answer is None for every loop, whatever happened in it.",
    "Does each path of the function end in a return, and is any of the conditions ever true? Print the notes that your "
    "walk through the events took, for a case in which you can see the fault with your own eyes.",
)
def nothing_found(events: Events) -> Name:
    return None


def _counts(events: Events, kind: str) -> int:
    return sum(event["kind"] == kind for event in events)


@mistake(
    "Answers as if clears and steps were counted, whatever their order",
    "On these loops the answers are those of code that compares how many clears and how many steps there are.",
    "The same number of clears can stand in right places and in wrong ones. Walk through the events one by one, and keep "
    "track of what each gradient holds.",
    "In a plain loop there is one of each.",
    also=(
        lambda events: (
            "never-zeroed"
            if not _counts(events, "clear")
            else "zeroed-once-per-epoch"
            if _counts(events, "clear") < _counts(events, "step")
            else None
        ),
    ),
)
def judged_by_counts(events: Events) -> Name:
    clears, steps = _counts(events, "clear"), _counts(events, "step")
    if not clears:
        return "never-zeroed"
    if clears < steps:
        return "zeroed-once-per-epoch"
    return "zeroed-inside-window" if clears > steps else None


@mistake(
    "Answers as if each step used every gradient",
    "On these loops, where a step names a part of the gradients, the answers are those of loops whose steps name all.",
    "A step uses what it names. What does the second of two optimizers leave alone?",
    also=(
        lambda events: first_of(
            {**FAULTS, "layer-replaced-after-optimizer": lambda _: False}, all_named(events, "step")
        ),
    ),
)
def names_of_steps_ignored(events: Events) -> Name:
    if FAULTS["layer-replaced-after-optimizer"](events):
        return "layer-replaced-after-optimizer"
    return first_of(FAULTS, all_named(events, "step"))


@mistake(
    "Answers as if each clear emptied every gradient",
    "On these loops, where a clear names a part of the gradients, the answers are those of loops whose clears name all.",
    "A clear empties what it names. Keep what is held for each gradient by itself.",
)
def names_of_clears_ignored(events: Events) -> Name:
    return first_of(FAULTS, all_named(events, "clear"))


@mistake(
    "Answers as if every event concerned every gradient",
    "On these loops the answers are those of code that follows the kinds of events and looks at no names.",
    "Two optimizers, or a layer left out, can be told apart by names alone. Keep what is held for each gradient by itself.",
    also=(lambda events: first_of(FAULTS, all_named(events, "accumulate", "clear", "step", "clip")),),
)
def names_ignored(events: Events) -> Name:
    if FAULTS["layer-replaced-after-optimizer"](events):
        return "layer-replaced-after-optimizer"
    return first_of(FAULTS, all_named(events, "accumulate", "clear", "step", "clip"))


@mistake(
    "What is old was told without names",
    "On these loops the answers are those of code that asks of sums, and of what is old alone, whether some step, some "
    "write or some clear stands there, whichever gradients it names.",
    "A step makes old what it names, and a clear empties what it names. With two optimizers, or a layer left out, that "
    "is not everything. Keep for each gradient by itself what its own steps have used.",
)
def old_told_without_names(events: Events) -> Name:
    whole = all_named(events, "accumulate", "clear", "step")
    old = (*_OF_SUMS, "stepped-on-used-gradients")
    return next((name for name, fits in FAULTS.items() if fits(whole if name in old else events)), None)


def _first_two_turned(name: str) -> Code:
    """Asks for the fault of that name after the one that follows it in the list."""
    order = list(FAULTS)
    at = order.index(name)
    order[at : at + 2] = reversed(order[at : at + 2])
    return lambda events: first_of({one: FAULTS[one] for one in order}, events)


def _first_in_time(events: Events) -> Name:
    """The fault that is met first on the way through the trace; which sum it is, and a layer replaced, are told behind."""
    found = right(events)
    if found is None or found == "layer-replaced-after-optimizer":
        return found
    fitting = [name for name, fits in FAULTS.items() if fits(events) and name not in _OF_SUMS]
    for end in range(1, len(events) + 1) if fitting and [found] != fitting else ():
        if _sums(events[:end]):
            return found if found in _OF_SUMS else "never-zeroed"
        met = [name for name in fitting if FAULTS[name](events[:end])]
        if met:
            return met[0]
    return found


@mistake(
    "Of two faults that fit, the later one in the list is named",
    "Several faults fit these loops, and the one that is named is not the first of them in the list.",
    "The first of the list counts, wherever in the trace it is met. In which order do you ask?",
    also=(
        *(
            _first_two_turned(name)
            for name in (
                "layer-replaced-after-optimizer",
                "zeroed-inside-window",
                "zeroed-once-per-epoch",
                "never-zeroed",
                "stepped-on-used-gradients",
            )
        ),
        _first_in_time,
    ),
)
def order_of_the_list_reversed(events: Events) -> Name:
    return first_of(dict(reversed(list(FAULTS.items()))), events)


def _sums(events: Events) -> set[str]:
    return are(SUM, stories(events))


@mistake(
    "Every sum of old and new is called never-zeroed",
    "Loops in which a step uses a sum of old and new are called never-zeroed, also where some clear names the gradient "
    "that holds it, and where one of two optimizers is cleared.",
    "Does some clear, wherever it stands, name a gradient that holds the sum? Or only others? These questions tell the "
    "three apart.",
)
def all_sums_never_zeroed(events: Events) -> Name:
    found = right(events)
    sums = ("zeroed-once-per-epoch", "one-of-two-optimizers-zeroed")
    return "never-zeroed" if found in sums else found


def _known_when_met(events: Events) -> Name:
    """The kind of the first sum, told by the clears before the step that uses it."""
    names = (right(events[:end]) for end in range(1, len(events) + 1))
    return next((name for name in names if name in _OF_SUMS), None)


@mistake(
    "The kind of a sum was told before all clears were known",
    "On these loops the answers are those of code that decides as soon as a step uses a sum of old and new. A clear that "
    "comes later in the trace would have changed the answer.",
    "Which of the three kinds of sums it is depends on the names in all clears of the trace, early or late. Note the sum "
    "on the way, and decide at the end.",
    "The walk comes to the sum, and a return stands at hand.",
)
def clears_so_far_alone(events: Events) -> Name:
    found = right(events)
    return _known_when_met(events) if found in _OF_SUMS else found


@mistake(
    "Every sum of old and new in a loop with clears is taken for the epoch's",
    "Where any gradient is cleared between steps, and another one holds a sum, the answer is zeroed-once-per-epoch.",
    "Whose clears are they? Ask of the gradient that holds the sum.",
    also=(
        lambda events: "zeroed-once-per-epoch" if right(events) == "one-of-two-optimizers-zeroed" else right(events),
    ),
)
def clears_of_others_counted(events: Events) -> Name:
    found = right(events)
    return "zeroed-once-per-epoch" if found in _OF_SUMS and _counts(events, "clear") else found


@mistake(
    "A step on something old alone is called a fault of the clears",
    "Where a step uses what an earlier one used, with nothing new on top, a fault of the clears is named.",
    "Nothing was written between those two steps, so there was nothing to add up. What is missing there is a backward.",
    also=(
        lambda events: "never-zeroed" if right(events) == "stepped-on-used-gradients" else right(events),
        lambda events: (
            "one-of-two-optimizers-zeroed" if right(events) == "stepped-on-used-gradients" else right(events)
        ),
    ),
)
def old_alone_called_a_sum(events: Events) -> Name:
    found = right(events)
    if found != "stepped-on-used-gradients":
        return found
    return "zeroed-once-per-epoch" if are(CLEARED, stories(events)) else "never-zeroed"


@mistake(
    "A sum of old and new is called old alone",
    "Where a step uses a sum, the answer is stepped-on-used-gradients.",
    "Something new was written there between the two steps. Which three names of the list speak of sums?",
)
def sum_called_old_alone(events: Events) -> Name:
    return "stepped-on-used-gradients" if right(events) in _OF_SUMS else right(events)


@mistake(
    "No sum of old and new is called a fault",
    "Where a step uses a gradient that holds something old and something new, the answer is None.",
    "backward adds. What does a gradient hold after a write that no clear went before, and which three names of the list "
    "speak of that?",
)
def sums_not_found(events: Events) -> Name:
    return None if right(events) in _OF_SUMS else right(events)


@mistake(
    "The names are spelled otherwise",
    "The words are those of the right answers, their spelling is not: they are no strings of the list.",
    "Compare one of them with the list, character by character.",
    also=(
        lambda events: (right(events) or "").replace("-", " ") or None,
        lambda events: (right(events) or "").upper() or None,
        lambda events: (right(events) or "").replace("-", "_").upper() or None,
    ),
)
def spelled_otherwise(events: Events) -> Name:
    return (right(events) or "").replace("-", "_") or None


# ------------------------------------------------------------------ right loops of one sort


def _instead(sort: Sort, *names: Name) -> tuple[Code, ...]:
    """Code that is right but on loops of one sort, to which it gives one of these names."""

    def other(name: Name) -> Code:
        return lambda events: name if right(events) != name and sort(events) else right(events)

    return tuple(other(name) for name in (names or tuple(FAULTS)))


def _on(
    name: str, loops: Sequence[str], forms: Sequence[Code], title: str, happens: str, mend: str, why: str = ""
) -> Mistake:
    """The mistake of that name that code makes in any of these forms, each of which is right but on these loops."""

    def code(events: Events) -> Name:
        found: Name = forms[0](events)
        return found

    code.__name__ = name
    return mistake(title, happens, mend, why, also=forms[1:], where=lambda spec: spec["loop"] in loops)(code)


def _fine(events: Events) -> bool:
    return right(events) is None


def _two_optimizers(events: Events) -> bool:
    return len({tuple(event["names"]) for event in events if event["kind"] == "step"}) > 1


def _several_backwards(events: Events) -> bool:
    return _fine(events) and _counts(events, "backward") > _counts(events, "step")


def _several_losses(events: Events) -> bool:
    return _fine(events) and _counts(events, "backward") > _counts(events, "forward")


def _micro_batches(events: Events) -> bool:
    return _several_backwards(events) and not _several_losses(events)


_windows = (
    *_instead(_several_backwards),
    *_instead(_micro_batches, "never-zeroed", "zeroed-once-per-epoch", "zeroed-inside-window"),
    *_instead(_several_losses, "never-zeroed", "zeroed-once-per-epoch", "zeroed-inside-window"),
)


window_called_a_fault = _on(
    "window_called_a_fault",
    ["in_windows", "two_losses"],
    _windows,
    "Several backwards before one step are called a fault",
    "A right loop that adds up several gradients for each step, and clears once a step, gets the name of a fault.",
    "No step has used what the later backward adds to. Old is what a step has used, not what a backward has written.",
    "One backward, one step is the usual loop.",
)


def _named_unwritten(events: Events) -> bool:
    told = stories(events)
    return _fine(events) and bool(are("s", told) - are("w", told)) and not _step_first(events)


def _never_cleared_either(events: Events) -> bool:
    return bool({name for name, story in stories(events).items() if set(story) == {"s"}})


frozen_layer_called_a_fault = _on(
    "frozen_layer_called_a_fault",
    ["frozen", "frozen_and_not_cleared"],
    (
        *_instead(_named_unwritten),
        *_instead(lambda events: _named_unwritten(events) and _never_cleared_either(events)),
        *_instead(lambda events: _named_unwritten(events) and not _never_cleared_either(events)),
    ),
    "A layer that is never written is called a fault",
    "A right loop whose optimizer also holds a layer that gets no gradients, as frozen ones do, gets the name of a fault.",
    "Of layer-replaced-after-optimizer there are two halves: gradients that steps name and nobody writes, and gradients "
    "that are written and no step names. Is the second one there?",
)


def _written_unnamed(events: Events) -> bool:
    told = stories(events)
    return _fine(events) and bool(are("w", told) - are("s", told))


layer_without_optimizer_called_a_fault = _on(
    "layer_without_optimizer_called_a_fault",
    ["head_alone"],
    _instead(_written_unnamed),
    "A layer that no step names is called a fault",
    "A right loop whose optimizer holds one layer alone, while the other gets gradients, too, gets the name of a fault.",
    "No step uses what that layer holds, so it may pile up there. Of layer-replaced-after-optimizer it is one half: is "
    "there a gradient that steps name and nobody writes?",
)


def _opponents(events: Events) -> bool:
    return (
        _fine(events)
        and _two_optimizers(events)
        and bool(are("w[^s]*ow*", stories(events)))
        and bool(are("wo*z", stories(events)))
    )


opponents_called_a_fault = _on(
    "opponents_called_a_fault",
    ["in_turn"],
    _instead(_opponents),
    "Two optimizers that train in turn are called a fault",
    "In a right loop of two opponents, each backward writes to both, and each clears its own before its backward. It gets "
    "the name of a fault.",
    "What one opponent's backward leaves in the other's gradients is cleared before the other's step can use it. A write "
    "onto something old is no fault before a step uses the sum, and a clear throws nothing of a window away where a step "
    "stands between it and the write.",
)


def _step_first(events: Events) -> bool:
    first = next((event["kind"] for event in events if event["kind"] in ("step", "accumulate")), "")
    return _fine(events) and first == "step"


first_step_called_a_fault = _on(
    "first_step_called_a_fault",
    ["step_first"],
    _instead(_step_first),
    "A step before the first backward is called a fault",
    "A right loop that begins with a step gets the name of a fault. That step finds nothing, since nothing was written "
    "yet; so nothing was lost either.",
    "Was anything written, and thrown away, that the step could have used?",
)


def _again_after_the_clear(events: Events) -> bool:
    more = _counts(events, "step") > _counts(events, "backward")
    return _fine(events) and more and not _two_optimizers(events) and not _step_first(events)


second_step_behind_a_clear_called_a_fault = _on(
    "second_step_behind_a_clear_called_a_fault",
    ["stepped_again_after_the_clear"],
    _instead(_again_after_the_clear),
    "A step behind the clear of what was used is called a fault",
    "The loop writes, steps, clears and steps once more. That second step finds nothing, and what was cleared had been used "
    "by the first. It gets the name of a fault.",
    "What does the second step use? Between the two steps nothing was written: was anything thrown away that it could "
    "have used? And is anything old in its gradients, when the next step comes?",
)


def _partly_thrown_away(events: Events) -> bool:
    """Whether some step uses a part of what it names, while another part was thrown away."""
    for at, event in enumerate(events):
        if event["kind"] == "step":
            told = {name: stories(events[:at]).get(name, "") for name in event["names"]}
            if any(map(holds, told.values())) and are(THROWN_AWAY, told):
                return True
    return False


partly_empty_step_called_a_fault = _on(
    "partly_empty_step_called_a_fault",
    ["one_layer_late"],
    _instead(lambda events: _fine(events) and _partly_thrown_away(events)),
    "A step that finds one of two layers gets a name",
    "One layer is cleared between backward and step, the other before the backward: each step uses the other. None of the "
    "eight fits such a loop, as the text defines them, and the answer is one of them.",
    "How much must a step use, so that it uses nothing at all?",
    "The loop is wrong: what that layer was to learn is lost.",
)


def _many_clears(events: Events) -> bool:
    more = _counts(events, "clear") > _counts(events, "step") + 1
    return _fine(events) and more and not _two_optimizers(events) and not _partly_thrown_away(events)


extra_clears_called_a_fault = _on(
    "extra_clears_called_a_fault",
    ["cleared_twice"],
    _instead(_many_clears),
    "Clears of what is empty are called a fault",
    "A right loop that clears more than once between a step and the next backward gets the name of a fault.",
    "A clear is too many only if it throws away what a step should have used. What does the second one find?",
)


def _clips_of_nothing(events: Events) -> bool:
    """Whether there are clips, and what each of them names holds nothing."""
    clips = [at for at, event in enumerate(events) if event["kind"] == "clip"]
    return bool(clips) and not any(
        holds(stories(events[:at]).get(name, "")) for at in clips for name in events[at]["names"]
    )


empty_clip_called_a_fault = _on(
    "empty_clip_called_a_fault",
    ["clipped_too_early"],
    _instead(lambda events: _fine(events) and _clips_of_nothing(events)),
    "A clip of gradients that hold nothing is called a fault",
    "Each clip stands between a clear and the next backward: what it names holds nothing. The loop gets the name of a fault.",
    "Of clipped-after-step there are two halves. Holding nothing new is one of them; what does the text ask first?",
)


def _clips(events: Events) -> bool:
    return _fine(events) and _counts(events, "clip") > 0 and not _clips_of_nothing(events)


def _clips_after_another_step(events: Events) -> bool:
    return _clips(events) and _two_optimizers(events)


def _clips_alone(events: Events) -> bool:
    return _clips(events) and not _two_optimizers(events)


def _clips_in_turn(events: Events) -> bool:
    return _clips_after_another_step(events) and _counts(events, "backward") == _counts(events, "step")


def _clips_between(events: Events) -> bool:
    return _clips_after_another_step(events) and not _clips_in_turn(events)


_clipping = (
    *_instead(_clips_between),
    *_instead(_clips_in_turn),
    *_instead(_clips_alone),
    *_instead(_clips_after_another_step, "clipped-after-step"),
    *_instead(_clips, "clipped-after-step"),
)


right_clip_called_a_fault = _on(
    "right_clip_called_a_fault",
    ["clipped", "clipped_between_the_steps", "in_turn_and_all_clipped"],
    _clipping,
    "A right loop with clips is called a fault",
    "A loop in which each clip names something that no step has used yet, and in which nothing else is wrong, gets the name "
    "of a fault.",
    "Take the clips out of the trace: does the answer stay? If not, which gradients does the clip name, and has a step used "
    "all that they hold? Either way, with two optimizers the step before may be the other's.",
)


def _left_out(events: Events) -> bool:
    told = stories(events)
    return (
        _fine(events)
        and not _two_optimizers(events)
        and bool(are("zs|zzs", told))
        and bool(are("zws", told))
        and not (_named_unwritten(events) or _step_first(events) or _partly_thrown_away(events))
    )


layer_left_out_called_a_fault = _on(
    "layer_left_out_called_a_fault",
    ["second_layer_now_and_then"],
    _instead(_left_out),
    "A layer that some steps find empty is called a fault",
    "A right loop in which every second batch leaves a layer out gets the name of a fault.",
    "When the step of such a batch comes, that layer was cleared, and nothing was written to it since. What does it hold "
    "then, and what does the step use?",
)


def _one_backward_two_steps(events: Events) -> bool:
    return _fine(events) and _two_optimizers(events) and not _opponents(events) and not _clips(events)


two_optimizers_called_a_fault = _on(
    "two_optimizers_called_a_fault",
    ["both_cleared"],
    _instead(_one_backward_two_steps),
    "Two optimizers that share a backward are called a fault",
    "A right loop with one backward for two optimizers, both cleared, gets the name of a fault.",
    "The second step names other gradients than the first. Has a step that names them used them before?",
)


# ------------------------------------------------------------------ faults of one sort


def _not(sort: Sort) -> Sort:
    return lambda events: not sort(events)


def _accumulates(events: Events) -> bool:
    return _counts(events, "backward") > _counts(events, "step")


def _partly_old(events: Events) -> bool:
    told = stories(events)
    return are(OLD_ALONE, told) != are("w", told)


def _stepped_more_than_run(events: Events) -> bool:
    return _counts(events, "step") > _counts(events, "forward")


def _misnamed(fault: str, *groups: Sequence[Sort], but: Sequence[Name] = ()) -> tuple[Code, ...]:
    """Code that gives another name, or none, to the loops with a fault that are of each sort of a group.

    `but` are names that are a mistake above.
    """
    names = [name for name in (None, *FAULTS) if name != fault and name not in but]

    def chosen(sorts: Sequence[Sort]) -> Sort:
        return lambda events: right(events) == fault and all(sort(events) for sort in sorts)

    return tuple(code for sorts in groups for code in _instead(chosen(sorts), *names))


_late_in_windows = _misnamed("zeroed-before-step", [_accumulates])


late_clear_in_a_window_misnamed = _on(
    "late_clear_in_a_window_misnamed",
    ["late_in_windows"],
    _late_in_windows,
    "Clears behind every backward of a window get another name, or none",
    "Each backward is followed by a clear, the last one before the step as well: two faults fit, and the answer given is "
    "not the first of them in the list.",
    "What does the step find? zeroed-before-step stands before zeroed-inside-window in the list.",
)


_second_finds_nothing = _misnamed("zeroed-before-step", [_two_optimizers])


second_empty_step_misnamed = _on(
    "second_empty_step_misnamed",
    ["cleared_between_the_steps"],
    _second_finds_nothing,
    "An empty step of the second optimizer gets another name, or none",
    "The clear stands between the steps of two optimizers: the first step uses its gradients, the second one finds nothing. "
    "The answer given is another.",
    "Ask at each step: do the gradients that it names hold anything, and if not, what was thrown away since their last "
    "step?",
)


def _names_the_unwritten(events: Events) -> bool:
    return bool(are("s", stories(events)) - are("w", stories(events)))


_late = _misnamed(
    "zeroed-before-step",
    [_not(_accumulates), _not(_two_optimizers)],
    [_not(_accumulates), _not(_two_optimizers), _names_the_unwritten],
    [_not(_accumulates), _not(_two_optimizers), _not(_names_the_unwritten)],
)


late_clear_misnamed = _on(
    "late_clear_misnamed",
    ["late", "late_with_a_frozen_layer"],
    _late,
    "A clear between backward and step gets another name, or none",
    "In a loop with one backward and one step each time, the step finds nothing: a clear stands right before it.",
    "What do the gradients hold when the step comes, and why? Follow one gradient through the first five events. A step may "
    "name others that were never written.",
)


def _has_sums(events: Events) -> bool:
    return bool(_sums(events))


_middle = (
    *_misnamed("zeroed-inside-window", [], [_not(_has_sums)]),
    *_misnamed("zeroed-inside-window", [_has_sums], but=["zeroed-once-per-epoch"]),
)


clear_in_the_middle_misnamed = _on(
    "clear_in_the_middle_misnamed",
    ["cleared_inside", "cleared_inside_every_second"],
    _middle,
    "A clear in the middle of a window gets another name, or none",
    "Gradients are written, cleared and written again before a step comes, which then uses the last ones alone. The answer "
    "given is another.",
    "What is thrown away between two steps, and does something come after it that the step can use? Then it is no "
    "zeroed-before-step. Where sums of old and new are found at other steps, the order of the list decides.",
)


def _one_clear(events: Events) -> bool:
    return _counts(events, "clear") == 1 and events[0]["kind"] == "clear"


_one = _misnamed("zeroed-once-per-epoch", [_one_clear])


one_clear_misnamed = _on(
    "one_clear_misnamed",
    ["cleared_before_the_loop"],
    _one,
    "A loop that clears once, before its first step, gets another name, or none",
    "From its second step on, each step uses a sum of old and new. A clear names these gradients, though only at the "
    "beginning.",
    "The three faults with a sum are told apart by the names in clears. Does the text ask where the clear stands?",
)


def _last_clear(events: Events) -> bool:
    return _counts(events, "clear") == 1 and events[-1]["kind"] == "clear"


last_clear_misnamed = _on(
    "last_clear_misnamed",
    ["cleared_after_the_loop"],
    _misnamed("zeroed-once-per-epoch", [_last_clear]),
    "A loop that clears once, after its last step, gets another name, or none",
    "From its second step on, each step uses a sum of old and new. A clear names these gradients, though only at the end.",
    "The three faults with a sum are told apart by the names in clears. Does the text ask where the clear stands, and can "
    "you know the clears when the first sum is met?",
)


def _now_and_then(events: Events) -> bool:
    return not _one_clear(events) and not _last_clear(events)


def _partly_cleared(events: Events) -> bool:
    """Whether clears name some of the gradients that hold sums, and others not."""
    return not _sums(events) <= are(CLEARED, stories(events))


_rare = (
    *_misnamed(
        "zeroed-once-per-epoch",
        [_now_and_then],
        [_now_and_then, _not(_two_optimizers)],
        [_now_and_then, _two_optimizers],
        [_now_and_then, _not(another_is_cleared)],
        [_partly_cleared],
        [_now_and_then, _not(_partly_cleared)],
        [_now_and_then, _not(_two_optimizers), _not(_partly_cleared)],
        [_now_and_then, _not(another_is_cleared), _not(_partly_cleared)],
        [_now_and_then, _two_optimizers, _not(another_is_cleared)],
    ),
    *_misnamed("zeroed-once-per-epoch", [another_is_cleared], but=["one-of-two-optimizers-zeroed"]),
)


rare_clear_misnamed = _on(
    "rare_clear_misnamed",
    ["once_an_epoch", "both_once_an_epoch", "second_clears_too_late", "one_layer_once_an_epoch"],
    _rare,
    "A clear that comes too rarely gets another name, or none",
    "Gradients are cleared between some of their steps and not between others, where they add up. The answer given is "
    "another.",
    "Take one gradient at a time: between which two of its own steps does no clear stand that names it? What does the "
    "second of them use? Then look whether any clear, early or late, names that gradient.",
)


def _one_backward(events: Events) -> bool:
    return _counts(events, "backward") < _counts(events, "step")


_one_of_two = (
    *_misnamed("one-of-two-optimizers-zeroed", [], but=["zeroed-once-per-epoch"]),
    *_misnamed("one-of-two-optimizers-zeroed", [_one_backward]),
    *_misnamed("one-of-two-optimizers-zeroed", [_not(_one_backward)]),
)


one_of_two_misnamed = _on(
    "one_of_two_misnamed",
    ["one_cleared", "in_turn_one_cleared"],
    _one_of_two,
    "That one of two optimizers is never cleared gets another name, or none",
    "One optimizer's gradients are cleared between its steps. The other's never are, and add up. The answer given is "
    "another.",
    "Look at the names: which gradients do the clears name, and which steps name the others?",
)


def _one_without_sums(events: Events) -> bool:
    steps = [set(event["names"]) for event in events if event["kind"] == "step"]
    return _two_optimizers(events) and any(names.isdisjoint(_sums(events)) for names in steps)


_neither = _misnamed("never-zeroed", [_two_optimizers, _not(_one_without_sums)])


neither_of_two_misnamed = _on(
    "neither_of_two_misnamed",
    ["neither_cleared"],
    _neither,
    "Two optimizers, neither of them cleared, get another name, or none",
    "Nothing is ever cleared, and every gradient adds up. The answer given is another.",
    "one-of-two-optimizers-zeroed needs one optimizer whose gradients are cleared. Is there any?",
)


_lone = _misnamed("never-zeroed", [_one_without_sums])


second_that_steps_once_misnamed = _on(
    "second_that_steps_once_misnamed",
    ["second_steps_at_the_end"],
    _lone,
    "Two optimizers of which one steps once, and no clear, get another name, or none",
    "Nothing is ever cleared. One optimizer's steps use sums of old and new. The other one steps once, after all batches, "
    "and uses no such sum. The answer given is another.",
    "one-of-two-optimizers-zeroed asks two things of the other optimizer. Its steps use no sum; what is the second thing?",
)


def _no_clear(events: Events) -> bool:
    return not _counts(events, "clear")


def _old_alone(events: Events) -> bool:
    return bool(are(OLD_ALONE, stories(events)))


_one_and_no_clear = (_no_clear, _not(_two_optimizers))
_never = (
    *_misnamed(
        "never-zeroed",
        _one_and_no_clear,
        [*_one_and_no_clear, _accumulates],
        [*_one_and_no_clear, _not(_accumulates)],
        [*_one_and_no_clear, _not(_old_alone)],
        [*_one_and_no_clear, _not(_accumulates), _not(_old_alone)],
    ),
    *_misnamed("never-zeroed", [*_one_and_no_clear, _old_alone], but=["stepped-on-used-gradients"]),
)


no_clear_misnamed = _on(
    "no_clear_misnamed",
    ["never", "never_in_windows", "stepped_twice_and_never_cleared"],
    _never,
    "A loop of one optimizer without any clear gets another name, or none",
    "Nothing is ever cleared: from its second step on, each step uses a sum of old and new.",
    "Follow one gradient: written, used, written again on top, and then a step. Which name is meant for that, where no "
    "clear is anywhere?",
)


one_layer_without_clears_misnamed = _on(
    "one_layer_without_clears_misnamed",
    ["first_layer_alone_cleared"],
    _misnamed("never-zeroed", [_not(_no_clear), _not(_two_optimizers)]),
    "That one of two layers is never cleared gets another name, or none",
    "One optimizer holds both layers. One of them is cleared for each step, the other one never, so that it holds sums of "
    "old and new. The answer given is another.",
    "Which gradients hold the sum, and does any clear name these? And where is a step that uses no sum?",
    "There are clears, and still these gradients are never cleared.",
)


_old = (
    *_misnamed("stepped-on-used-gradients", [], but=_OF_SUMS),
    *_misnamed("stepped-on-used-gradients", [_not(_partly_old)]),
    *_misnamed("stepped-on-used-gradients", [_partly_old]),
    *_misnamed("stepped-on-used-gradients", [_not(_partly_old), _stepped_more_than_run]),
    *_misnamed("stepped-on-used-gradients", [_not(_partly_old), _not(_stepped_more_than_run)]),
    *_misnamed("stepped-on-used-gradients", [_not(clips_of_old)]),
    *_misnamed("stepped-on-used-gradients", [_not(_partly_old), _not(clips_of_old)]),
    *_misnamed("stepped-on-used-gradients", [_not(_partly_old), _not(clips_of_old), _stepped_more_than_run]),
    *_misnamed("stepped-on-used-gradients", [clips_of_old], but=["clipped-after-step"]),
)


old_alone_misnamed = _on(
    "old_alone_misnamed",
    ["stepped_twice", "frozen_on_the_way", "stepped_without_backward", "clipped_between_two_steps"],
    _old,
    "A step on something old alone gets another name, or none",
    "A step uses a gradient that an earlier step used, and nothing was written to it since. The answer given is another.",
    "One such gradient is enough, though the others of that step be new. And it is no sum: nothing new is in it.",
)


_replaced = (
    *_misnamed("layer-replaced-after-optimizer", [], [_not(steps_on_nothing)]),
    *_misnamed("layer-replaced-after-optimizer", [steps_on_nothing], but=["zeroed-before-step"]),
)


replaced_layer_misnamed = _on(
    "replaced_layer_misnamed",
    ["replaced", "replaced_and_late"],
    _replaced,
    "That a layer was replaced gets another name, or none",
    "Some gradients are written and no step names them; others are named by every step and never written. The answer given "
    "is another.",
    "Collect two sets over the whole trace: what accumulate names, and what steps name. What is in one of them alone?",
)


_clipped = _misnamed(
    "clipped-after-step",
    [],
    [_two_optimizers],
    [_not(_two_optimizers)],
    [_names_the_unwritten],
    [_not(_names_the_unwritten)],
    [_not(_two_optimizers), _not(_names_the_unwritten)],
)


late_clip_misnamed = _on(
    "late_clip_misnamed",
    ["clipped_late", "in_turn_and_clipped_late", "clipped_late_with_a_frozen_layer"],
    _clipped,
    "A clip behind the step gets another name, or none",
    "When the clip comes, a step has used all that the clipped gradients hold. The answer given is another.",
    "What do the gradients that the clip names hold when it comes, and has a step used all of it? Those that hold nothing "
    "do not count. If the answer given is another fault, take the clips out of the trace: does it stay, though nothing but "
    "the clips is wrong?",
)


def _plain(events: Events) -> bool:
    usual = ("forward", "backward", "step")
    return (
        _fine(events)
        and len({_counts(events, kind) for kind in usual}) == 1
        and not any(
            sort(events)
            for sort in (
                _clips,
                _clips_of_nothing,
                _partly_thrown_away,
                _two_optimizers,
                _many_clears,
                _named_unwritten,
                _written_unnamed,
                _left_out,
                _step_first,
            )
        )
    )


_usual = _instead(_plain)


plain_loop_called_a_fault = _on(
    "plain_loop_called_a_fault",
    ["plain"],
    _usual,
    "A plain right loop is called a fault",
    "One backward, one step and one clear each time, in one of the two right places for the clear: behind the step, or "
    "before the backward. It gets the name of a fault.",
    "Behind the step and before the next backward is one and the same place. Where does your code expect the first clear, "
    "or the last?",
)
