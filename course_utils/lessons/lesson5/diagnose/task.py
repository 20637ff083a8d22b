"""Exercise 5.1: name the fault of a training loop from its trace."""

from __future__ import annotations

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.lesson5.recordings import recorded
from course_utils.lessons.lesson5.traces import cases_of_loops, has_two_optimizers, is_loop, kinds

_LOOPS: tuple[tuple[str, str], ...] = (
    ("a step for each backward", "never"),
    ("a step for each backward, and clears", "plain"),
    ("a step, a clear and a backward each time", "late"),
    ("several backwards to a step", "in_windows"),
    ("several backwards to a step, and more clears", "cleared_inside"),
    ("more steps than clears", "once_an_epoch"),
    ("more clears than steps", "cleared_twice"),
    ("one backward for two optimizers", "one_cleared"),
    ("one backward for two optimizers, each clears", "both_cleared"),
    ("two layers, of which not all is written", "replaced"),
    ("a layer that is never written", "frozen"),
    ("a layer that is never written, nor cleared", "frozen_and_not_cleared"),
    ("two steps to a backward", "stepped_twice"),
    ("clips", "clipped_late"),
    ("clips in another place", "clipped"),
    ("one clear in all", "cleared_before_the_loop"),
    ("as many clears as backwards", "late_in_windows"),
    ("two optimizers and no clear", "neither_cleared"),
    ("two optimizers in turn", "in_turn"),
    ("an optimizer of one layer", "head_alone"),
    ("a step before all else", "step_first"),
    ("two optimizers in turn, a backward for each", "in_turn_one_cleared"),
    ("two optimizers and clips", "clipped_between_the_steps"),
    ("two optimizers in turn, and clips of everything", "in_turn_and_all_clipped"),
    ("a clear each time, and a layer that is never written", "late_with_a_frozen_layer"),
    ("clears of one layer, from some step on", "frozen_on_the_way"),
    ("several backwards to a step and no clear", "never_in_windows"),
    ("two optimizers, and a clear between their steps", "cleared_between_the_steps"),
    ("two optimizers that clear now and then", "both_once_an_epoch"),
    ("two backwards to one forward", "two_losses"),
    ("a layer that is written now and then", "second_layer_now_and_then"),
    ("steps without a backward", "stepped_without_backward"),
    ("a layer that is never written, and a clear each time", "replaced_and_late"),
    ("several backwards to a step, and few clears", "cleared_inside_every_second"),
    ("two optimizers, one of which clears less often", "second_clears_too_late"),
    ("two optimizers, one of which steps less often", "second_steps_at_the_end"),
    ("two steps to a backward and no clear", "stepped_twice_and_never_cleared"),
    ("two steps to a backward, and clips", "clipped_between_two_steps"),
    ("two steps to a backward, and more clears", "stepped_again_after_the_clear"),
    ("a clear, a clip and a backward each time", "clipped_too_early"),
    ("one clear in all, in another place", "cleared_after_the_loop"),
    ("clears of one layer and of the other", "one_layer_late"),
    ("two optimizers in turn, and clips of one layer", "in_turn_and_clipped_late"),
    ("clears of one layer alone", "first_layer_alone_cleared"),
    ("fewer clears than steps, of one layer alone", "one_layer_once_an_epoch"),
    ("clips, and a layer that is never written", "clipped_late_with_a_frozen_layer"),
)


def _cases(seed: int) -> list[Case]:
    return cases_of_loops(seed, _LOOPS)


def _arrange(case: Case) -> Arrangement:
    events = recorded(case.spec)
    return Arrangement((events,), watch={"events": events})


EXERCISE = Exercise(
    id="5.1",
    name="diagnose",
    title="Name the fault from the trace",
    difficulty=4,
    minutes=35,
    goal=(
        "Write `diagnose(events)`. `events` is the trace of a training loop: a list of dicts, an event each, in the order "
        "they happened. `kind` is `forward`, `backward`, `accumulate`, `clip`, `clear` or `step`. `names` lists "
        "the parameters concerned: for `accumulate` those whose `.grad` was written to, for `clip` and `clear` those that "
        "were to be clipped or cleared, for `step` all that its optimizer holds, whatever their `.grad` holds; for the "
        "other two it is empty. The keys `step` and `window` count steps; no fault asks for them.\n\n"
        "Return the name of the loop's fault, or `None` where none of these eight fits, and leave `events` as they are. "
        "A gradient holds what was written to it (an `accumulate` that names it) since it was "
        "last cleared; this is a sum of old and new if a step has used some of it and some was written after that step. A "
        "step uses those of the gradients it names that hold something. A gradient's steps are those that name it.\n\n"
        '- `"layer-replaced-after-optimizer"`: some gradients are written and no step names them, and others are named '
        "by steps and never written.\n"
        '- `"zeroed-before-step"`: a step uses nothing at all, although some gradient that it names was written, and '
        "cleared again, since that gradient's last step, or since the beginning.\n"
        '- `"zeroed-inside-window"`: a gradient is written, cleared, and written again, with no step of any optimizer '
        "in between.\n"
        '- `"zeroed-once-per-epoch"`: a step uses a sum of old and new, and some clear, early or late, names the '
        "gradient with that sum.\n"
        '- `"one-of-two-optimizers-zeroed"`: a step uses a sum of old and new; another optimizer steps, too, none of its '
        "steps uses such a sum, and each gradient that they name is named by some clear, early or late.\n"
        '- `"never-zeroed"`: a step uses a sum of old and new.\n'
        '- `"stepped-on-used-gradients"`: a step uses a gradient that an earlier step used, and to which nothing was '
        "written since.\n"
        '- `"clipped-after-step"`: a clip names gradients that hold something, and each of those was used by a step and '
        "not written since.\n\n"
        "Where several fit, the first of this list is the answer. Steps that share a name are of one optimizer, "
        "others of two. No loop has a closure, and every `.grad` is None at the beginning. The "
        "loops of the check are real ones, right and wrong, of at most 20 steps."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Take one parameter, and write its story in a row of letters: w where its gradient is written, z where it is "
        "cleared, s where a step names it. A plain right loop reads zwszwszws. How do the stories of the faults read?",
        "Keep two sets while you walk through the events: which gradients hold something new, written since their last "
        "step, and which hold something old, used by a step. A write adds to the one, a clear empties both, and a step "
        "makes old of new. What is in the sets when a step comes tells old alone, new alone, and the sum of both.",
        "Collect first, decide at the end. Let the walk note each thing that happens (a step on nothing after a clear, a "
        "write onto what was written and cleared since the last step, a sum, a step on old alone, a clip of old alone). "
        "Then ask for the eight in the order of the list, with one if each.",
        "For the three kinds of sums, collect the gradients in which one was found, and those that clears name. Have the "
        "two sets anything in common? Then it is the epoch's fault. Else: does some step name only gradients that are in "
        "the second set, and none that is in the first? Then it is one of two optimizers. Else it is never.",
    ),
    properties=(
        ("there is one clear, before the first step", is_loop("cleared_before_the_loop")),
        ("there is one clear, after the last step", is_loop("cleared_after_the_loop")),
        ("a clear between backward and step names one layer alone", is_loop("one_layer_late")),
        ("each backward of a window has a clear behind it", is_loop("late_in_windows")),
        ("a step comes before the first backward", is_loop("step_first")),
        (
            "steps name gradients that are never written",
            is_loop(
                "frozen",
                "frozen_and_not_cleared",
                "late_with_a_frozen_layer",
                "clipped_late_with_a_frozen_layer",
            ),
        ),
        ("gradients are written that no step names", is_loop("head_alone")),
        ("a backward writes to gradients which the next step does not name", is_loop("in_turn", "head_alone")),
        (
            "clears name one layer alone, and steps name both",
            is_loop("first_layer_alone_cleared", "one_layer_once_an_epoch"),
        ),
        ("only some of what a step uses was used before", is_loop("frozen_on_the_way")),
        ("a step of another optimizer comes between backward and clip", is_loop("clipped_between_the_steps")),
        ("a step of another optimizer comes between backward and clear", is_loop("cleared_between_the_steps")),
        ("a clip names some gradients that are old and others that are new", is_loop("in_turn_and_all_clipped")),
        ("a clip comes between a clear and a backward", is_loop("clipped_too_early")),
        ("there are clips", lambda spec: "clip" in kinds(spec)),
        ("there are two optimizers", has_two_optimizers),
        ("there is no clear at all", lambda spec: "clear" not in kinds(spec)),
        ("several backwards come to a step", lambda spec: kinds(spec).count("backward") > kinds(spec).count("step")),
        ("several steps come to a backward", lambda spec: kinds(spec).count("step") > kinds(spec).count("backward")),
    ),
)
