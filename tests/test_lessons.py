"""What every lesson declares can be relied on: cases that repeat and travel, inputs without a trace, texts."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from course_utils.authoring.source import first_words, read
from course_utils.checks.judge import judge, mistakes_of, seen_of
from course_utils.checks.judge.left import deviations, run_of
from course_utils.checks.observe import observe
from course_utils.exercise import Evidence, Exercise
from course_utils.learner import evaluate
from course_utils.lessons import Question, exercise, lesson, lessons, question
from course_utils.lessons.measured import closest, true_or_false
from course_utils.plain import Opaque, Plain, TensorData, to_bytes

pytestmark = pytest.mark.turns

ROOT = Path(__file__).resolve().parent.parent
LESSONS = lessons()
EXERCISES = [task for each in LESSONS for task in each.exercises]
QUESTIONS = [item for each in LESSONS for item in each.questions]

every_lesson = pytest.mark.parametrize("number", [each.number for each in LESSONS])
# By the module: all tests of an exercise run one after the other, and what its mistakes leave is found out once.
every_exercise = pytest.mark.parametrize("task", EXERCISES, ids=lambda task: task.id, scope="module")
every_question = pytest.mark.parametrize("item", QUESTIONS, ids=lambda item: item.id)


@every_lesson
def test_a_lesson_has_a_hundred_points(number: int) -> None:
    assert lesson(number).points == 100


@every_lesson
def test_ids_and_names_are_those_of_the_lesson_and_stand_once(number: int) -> None:
    each = lesson(number)
    ids = [item.id for item in (*each.exercises, *each.questions)]
    assert len(set(ids)) == len(ids)
    assert all(identifier.split(".")[0] == str(number) for identifier in ids)
    assert [task.id for task in each.exercises] == [f"{number}.{place + 1}" for place in range(len(each.exercises))]
    assert len({task.name for task in each.exercises}) == len(each.exercises)


@pytest.mark.parametrize("find", [exercise, question], ids=["exercise", "question"])
def test_what_is_not_declared_says_what_is(find: Callable[[str], object]) -> None:
    first = (EXERCISES if find is exercise else QUESTIONS)[0].id
    for unknown in ("1.99", "99.1", "nonsense", ""):
        with pytest.raises(KeyError, match=re.escape(first)):
            find(unknown)


def test_a_lesson_that_does_not_exist_says_which_do() -> None:
    with pytest.raises(KeyError, match="the lessons are 1"):
        lesson(99)


# ------------------------------------------------------------------ cases and inputs

NUMBERS_OF_PYTHON = (
    "scalar_backward",
    "is_valid_order",
    "diagnose",
    "stale_steps",
    "plan_windows",
    "largest_micro_batch",
)
"""Exercises that no tensor takes part in."""
OF_ITS_OWN_DTYPE = ("accumulate_in_fp32",)
"""Exercises about a dtype that all their cases have."""


@every_exercise
def test_a_seed_gives_the_same_cases_and_another_seed_others(task: Exercise) -> None:
    assert task.cases(4) == task.cases(4)
    assert [case.name for case in task.cases(4)] == [case.name for case in task.cases(5)]
    assert task.cases(4) != task.cases(5)


@every_exercise
def test_the_names_of_the_cases_differ(task: Exercise) -> None:
    names = [case.name for case in task.cases(0)]
    assert len(set(names)) == len(names)


@every_exercise
def test_a_case_survives_json(task: Exercise) -> None:
    for case in task.cases(0):
        assert json.loads(json.dumps(dict(case.spec))) == dict(case.spec)


@every_exercise
def test_building_the_inputs_moves_no_random_state(task: Exercise) -> None:
    for case in task.cases(0):
        before = torch.get_rng_state(), random.getstate()
        task.arrange(case)
        assert torch.equal(torch.get_rng_state(), before[0]) and random.getstate() == before[1]


@every_exercise
def test_every_watched_tensor_reaches_the_learner_the_same_way_twice(task: Exercise) -> None:
    for case in task.cases(0):
        first, second = task.arrange(case), task.arrange(case)
        assert first.watch.keys() == second.watch.keys()
        for name, tensor in first.watch.items():
            if isinstance(tensor, torch.Tensor):
                assert torch.equal(tensor, second.watch[name]) and tensor is not second.watch[name]


@every_exercise
def test_float32_and_float64_both_stand_among_the_cases(task: Exercise) -> None:
    if task.name in NUMBERS_OF_PYTHON + OF_ITS_OWN_DTYPE:
        return
    assert {case.spec.get("dtype", "float64") for case in task.cases(0)} == {"float32", "float64"}


# ------------------------------------------------------------------ the four outcomes


@every_exercise
def test_a_stub_is_not_attempted(task: Exercise) -> None:
    for stub in (lambda *args, **kwargs: ..., ...):
        verdict = evaluate(task.id, stub)
        assert (verdict.outcome, verdict.points, verdict.misconception) == ("not attempted", 0, None)


@every_exercise
def test_what_cannot_be_called_fails_and_says_so(task: Exercise) -> None:
    for attempt in (None, 3, "text", torch.ones(2)):
        verdict = evaluate(task.id, attempt)
        assert (verdict.outcome, verdict.misconception) == ("failed", "not-a-function")


@every_exercise
def test_an_exception_of_the_learners_own_is_called_so(task: Exercise) -> None:
    def attempt(*args: object, **kwargs: object) -> None:
        raise LookupError("mine")

    verdict = evaluate(task.id, attempt)
    assert verdict.outcome == "raised" and verdict.misconception == "gives-up"
    raised = verdict.faults[0].raised
    assert raised is not None and raised.type == "LookupError"


class _Odd:
    def __repr__(self) -> str:
        raise RuntimeError


ODD_RESULTS = [
    None,
    0,
    float("nan"),
    "text",
    [],
    [[]],
    {},
    {1: 2},
    set(),
    _Odd(),
    torch.ones(0),
    torch.ones(2, 3, 4),
    print,
]


@every_exercise
def test_no_result_however_odd_passes_or_breaks_the_check(task: Exercise) -> None:
    for odd in ODD_RESULTS[EXERCISES.index(task) % 2 :: 2]:  # by turns: each takes a check of every case
        verdict = evaluate(task.id, lambda *args, odd=odd, **kwargs: odd)
        assert verdict.outcome != "passed" and verdict.points == 0


@every_exercise
def test_evidence_of_an_odd_result_can_be_sent(task: Exercise) -> None:
    case = task.cases(0)[0]
    for odd in ODD_RESULTS:
        to_bytes(observe(task, lambda *args, odd=odd, **kwargs: odd, case).to_plain())


FORGED: list[Plain] = [None, {}, [], "", 0, [None], {"W1": None}, Opaque("x", "y"), [TensorData(torch.ones(1))] * 4]


@every_exercise
def test_forged_evidence_fails_and_breaks_nothing(task: Exercise) -> None:
    cases = task.cases(0)
    for result in FORGED:
        for facts in ({}, {"autograd": [1]}, {"different tensors": "many"}, {".grad after the call": 3}):
            evidence = [Evidence(case.name, "returned", result, facts) for case in cases]
            assert judge(task, cases, evidence).outcome == "failed"


# ------------------------------------------------------------------ texts


@every_exercise
def test_an_exercise_tells_what_it_takes(task: Exercise) -> None:
    assert f"`{task.name}(" in task.goal
    assert task.points > 0 and 1 <= task.difficulty <= 5 and task.minutes > 0
    assert len(set(task.hints)) == len(task.hints) >= 3


@every_exercise
def test_the_arguments_are_those_of_the_text(task: Exercise) -> None:
    assert task.arguments and all(name.isidentifier() for name in task.arguments)


@every_exercise
def test_what_tells_cases_apart_can_be_asked_of_every_case(task: Exercise) -> None:
    assert task.properties and len({words for words, _ in task.properties}) == len(task.properties)
    for words, test in task.properties:
        held = [test(case.spec) for case in task.cases(0)]
        assert all(isinstance(one, bool) for one in held), words
        assert any(held) and not all(held), f"{words}: it tells no cases apart"
    for case in task.cases(0):
        for take in task.quantities.values():
            number = take(case.spec)
            assert number is None or isinstance(number, int | float)


@every_exercise
def test_the_texts_keep_to_the_style(task: Exercise) -> None:
    for text in (task.title, task.goal, *task.hints, *task.rules):
        assert "!" not in text.replace("!=", "")
        assert text == text.strip() and text.count("`") % 2 == 0


@every_question
def test_a_question_has_choices_and_a_quiz_its_reasons(item: Question) -> None:
    assert len(item.choices) >= 2 and len(set(item.choices.values())) == len(item.choices)
    if item.kind == "quiz":
        assert item.answer in item.choices
        assert item.because is not None and set(item.because) == set(item.choices)
    else:
        assert item.answer == "" and item.because is None, "what is right is measured, not declared"


@every_question
def test_a_key_that_is_a_letter_is_the_letter_under_which_its_choice_is_shown(item: Question) -> None:
    assert set(item.letters.values()) == set(item.choices)
    assert all(item.letters.get(key, key) == key for key in item.choices)


@every_exercise
def test_a_mistake_shows_on_no_case_but_those_that_it_says(task: Exercise) -> None:
    for one in mistakes_of(task.home):
        if one.where is None:
            continue
        elsewhere = [(place, case) for place, case in enumerate(task.cases(1), 1) if not one.where(case.spec)]
        for form in range(len(one.forms)):
            for place, case in elsewhere:
                seen = seen_of(task, one, form, case)
                assert not deviations(run_of(task, place, case, seen)), (one.id, form, case.name)
                assert not seen.changes, (one.id, form, case.name)


@every_exercise
def test_where_an_attempt_must_be_right_the_mistake_is(task: Exercise) -> None:
    for one in mistakes_of(task.home):
        if one.right_where is None:
            continue
        kept = [(place, case) for place, case in enumerate(task.cases(1), 1) if one.right_where(case.spec)]
        assert kept, one.id
        for form in range(len(one.forms)):
            for place, case in kept:
                assert not deviations(run_of(task, place, case, seen_of(task, one, form, case))), (one.id, case.name)


# ------------------------------------------------------------------ the cells of a lesson

WIDEST_LINE = 98
"""Characters of a source that a page of ordinary width shows without a scroll bar."""


@every_lesson
def test_no_line_of_a_lesson_is_wider_than_a_page(number: int) -> None:
    for cell in read(ROOT, lesson(number)).cells:
        text = cell.text if cell.kind == "code" else re.sub(r"^\|.*", "", cell.text, flags=re.MULTILINE)
        assert not [line for line in text.splitlines() if len(line) > WIDEST_LINE], first_words(cell.text)


def test_the_closest_choice_is_found_by_ratio_or_by_distance() -> None:
    assert closest(101.3, a=10, b=100, c=10_000) == "b"
    assert closest(torch.tensor(2000.0), a=10, b=100, c=10_000) == "c", "nearer to 100 by distance alone"
    assert closest(-0.9, a=1, b=-1, c=0) == "b" and closest(-3, a=-1, b=-9.1) == "a"
    assert true_or_false(torch.tensor(True)) == "a" and true_or_false(0) == "b"
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="nothing is closest"):
            closest(wrong, a=1)
    with pytest.raises(ValueError, match="among 0 choices"):
        closest(1.0)
