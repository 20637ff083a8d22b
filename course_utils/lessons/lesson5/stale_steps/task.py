"""Exercise 5.9: the steps that used a gradient some earlier step had used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from course_utils.exercise import Arrangement, Case, Exercise
from course_utils.lessons.lesson5.recordings import recorded
from course_utils.lessons.lesson5.traces import cases_of_loops, has_two_optimizers, is_loop, kinds

STEPS = "the steps"

_LOOPS: tuple[tuple[str, str], ...] = (
    ("one optimizer, no clear", "never"),
    ("a clear for each step", "plain"),
    ("several backwards to a step", "in_windows"),
    ("two steps to a backward", "stepped_twice"),
    ("a clear for each epoch", "once_an_epoch"),
    ("one clear left out", "clear_forgotten_once"),
    ("one layer is cleared", "first_layer_alone_cleared"),
    ("the weights are cleared", "biases_forgotten"),
    ("a layer that is never written, nor cleared", "frozen_and_not_cleared"),
    ("a layer is frozen on the way", "frozen_on_the_way"),
    ("a layer that is written now and then", "second_layer_now_and_then"),
    ("a layer that is written, and cleared, now and then", "second_layer_kept"),
    ("clears before the step", "late"),
    ("several backwards to a step, no clear", "never_in_windows"),
    ("two optimizers, both clear", "both_cleared"),
    ("two optimizers, one clears", "one_cleared"),
    ("two optimizers in turn", "in_turn"),
    ("an optimizer that steps seldom", "second_steps_seldom"),
    ("an optimizer that clears seldom", "second_clears_too_late"),
    ("two optimizers that share a layer", "one_for_all_and_one_for_the_second"),
    ("a step before all else", "step_first"),
    ("a step before all else, and a clear after each step", "step_first_and_cleared_last"),
    ("a step before all else, and no clear", "step_first_and_never_cleared"),
    ("clears before some of the steps, and no others", "late_at_every_third"),
    ("clips", "clipped"),
    ("now one layer is cleared, now the other", "layers_cleared_in_turn"),
)

_CLEAN = frozenset(
    {"plain", "in_windows", "second_layer_now_and_then", "late", "both_cleared", "in_turn"}
    | {"second_steps_seldom", "step_first", "step_first_and_cleared_last", "frozen_and_not_cleared", "clipped"}
)
"""The loops in which no step uses anything old."""


def _cases(seed: int) -> list[Case]:
    """The learner's own have whole runs, those of other seeds such as were stopped somewhere in their last third."""
    chance = Random(seed)

    def stopped(case: Case) -> Case:
        steps = kinds(case.spec).count("step")
        return replace(case, spec={**case.spec, "steps": chance.randint(-(-2 * steps // 3), steps)})

    whole = cases_of_loops(seed, _LOOPS)
    return [stopped(case) for case in whole] if seed else whole


def _arrange(case: Case) -> Arrangement:
    events = recorded(case.spec)
    named: list[object] = []

    def call(attempt: Any) -> object:
        found = attempt(events)
        if isinstance(found, (set, frozenset)) and all(isinstance(one, int) for one in found):
            found = sorted(found)
        named[:] = [found]
        return found

    def facts(_: object) -> Mapping[str, object]:
        plain = isinstance(named[0], list) and len(named[0]) < 50 and all(isinstance(one, int) for one in named[0])
        return {STEPS: str(named[0]) if plain else ""}

    return Arrangement((events,), watch={"events": events}, call=call, facts=facts)


EXERCISE = Exercise(
    id="5.9",
    name="stale_steps",
    title="Which steps used old gradients?",
    difficulty=3,
    minutes=20,
    goal=(
        "Write `stale_steps(events)`. `events` is a trace, as in exercise 5.1. Return the list of the numbers of those "
        "steps that used a gradient which some earlier step had used: at least one gradient that the step names holds "
        "something that an earlier step used, whether anything new was written to it since or not. A gradient holds what "
        "was written to it (an `accumulate` that names it) since it was last cleared; a step uses what the gradients "
        "that it names hold, and nothing of others. The number of a step is its key `step`: from 0, all optimizers "
        "together, those that use nothing included. The list is in the order of the trace, each step once; a set is as good. "
        "Unlike in 5.1, two optimizers may hold the same gradient. A clear may name a part of the gradients. Every `.grad` "
        "is None at the beginning. Leave `events` as they are."
    ),
    cases=_cases,
    arrange=_arrange,
    hints=(
        "Which question has to be asked of each gradient by itself, and which one of a step? A clear that names one layer "
        "says nothing of the other.",
        "Remember for each gradient what it holds: nothing, something that no step has used, or something that a step has "
        "used (with or without new things on top).",
        "Two sets of names will do. `written`: the gradients that hold anything. `used`: those that hold something a step "
        "has used. A write adds its names to the first, a clear takes its names out of both. At a step, look first: does "
        "it name anything that is in `used`? Then put into `used` what it names and what is in `written`.",
    ),
    properties=(
        (
            "a step finds nothing, and what it names is written next, without a clear",
            is_loop("step_first_and_cleared_last"),
        ),
        (
            "a step uses nothing, and a later one uses something old",
            is_loop("step_first_and_never_cleared", "late_at_every_third"),
        ),
        ("there are clips", lambda spec: "clip" in kinds(spec)),
        ("two optimizers hold the same layer", is_loop("one_for_all_and_one_for_the_second")),
        (
            "clears name some of the gradients, and steps name more",
            is_loop("first_layer_alone_cleared", "biases_forgotten", "layers_cleared_in_turn"),
        ),
        (
            "a step names gradients of which some are old and others new",
            is_loop(
                "first_layer_alone_cleared",
                "biases_forgotten",
                "frozen_on_the_way",
                "second_layer_kept",
                "layers_cleared_in_turn",
            ),
        ),
        ("a backward writes to what the next step does not name", is_loop("in_turn")),
        ("no step is to be named", lambda spec: spec["loop"] in _CLEAN),
        ("there are two optimizers", has_two_optimizers),
        ("there is no clear at all", lambda spec: "clear" not in kinds(spec)),
        ("several backwards come to a step", lambda spec: kinds(spec).count("backward") > kinds(spec).count("step")),
        ("several steps come to a backward", lambda spec: kinds(spec).count("step") > kinds(spec).count("backward")),
    ),
    telling={STEPS: "the numbers given are {given}, those of the steps in question {right}."},
)
