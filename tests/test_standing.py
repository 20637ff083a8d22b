"""Where a learner stands, and the start page that says so."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest

from course_utils import record
from course_utils.learner import progress
from course_utils.lessons import lesson, lessons
from course_utils.standing import START, standing, start_page, write_start_page
from course_utils.widgets.questions import compare, quiz


def page() -> str:
    return start_page([standing(each) for each in lessons()], datetime(2026, 1, 2, 3, 4))


def test_a_fresh_start_page_names_every_lesson_and_sends_to_the_first() -> None:
    first = lessons()[0]
    assert f"**Next step:** open [Lesson 1: {first.title}]({first.slug}.ipynb)." in page()
    for each in lessons():
        row = next(line for line in page().splitlines() if line.startswith(f"| [Lesson {each.number}:"))
        assert f"({each.slug}.ipynb) | {each.minutes} | 0 of {each.points} | 0 of {len(each.exercises)} |" in row
    assert "2026-01-02, 03:04" in page()


def test_the_next_step_is_the_first_exercise_that_is_not_passed_and_its_link_leads_to_a_cell() -> None:
    first, second = lesson(1).exercises[:2]
    record.update(first.id, passed=True, points=first.points)
    found = re.search(r"\*\*Next step:\*\* \[exercise (\S+), .+\]\((.+)#cell-id=(.+)\)\.", page())
    assert found and found[1] == second.id
    notebook = Path(__file__).parent.parent / "notebooks" / found[2]
    assert f'"id": "{found[3]}"' in notebook.read_text(encoding="utf-8")
    assert f"You have {first.points} of" in page()


def test_a_lesson_that_is_done_is_passed_over_and_after_the_last_the_page_says_so() -> None:
    *before, last = lessons()
    for each in before:
        for exercise in each.exercises:
            record.update(exercise.id, passed=True)
    assert f"**Next step:** open [Lesson {last.number}:" in page()
    for exercise in last.exercises:
        record.update(exercise.id, passed=True)
    assert "**Next step:** you have passed every exercise" in page()


def test_quizzes_and_predictions_are_counted(capfd: pytest.CaptureFixture[str]) -> None:
    asked = [question for question in lesson(1).questions if question.kind == "quiz"]
    wrong = next(key for key in asked[1].choices if key != asked[1].answer)
    quiz(asked[0].id, asked[0].answer)
    quiz(asked[1].id, wrong)
    record.update("1.a", choice="a")
    compare("1.a", "a")
    at = standing(lesson(1))
    assert (at.answered_right, at.quizzes, at.predicted, at.came_true) == (1, len(asked), 1, 1)
    assert at.predictions + at.quizzes == len(lesson(1).questions)
    capfd.readouterr()
    progress(1)
    header, row = capfd.readouterr().out.splitlines()[1:3]
    assert header.endswith("Quizzes right") and row.endswith(f"1 of {len(asked)}")
    assert f"| 1 of {at.predictions} | 1 of {len(asked)} |" in page()


def test_progress_renews_a_start_page_that_is_there_and_makes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    progress()
    assert not (tmp_path / START).exists()
    write_start_page(tmp_path)
    exercise = lesson(1).exercises[0]
    record.update(exercise.id, passed=True, points=exercise.points)
    progress()
    assert f"You have {exercise.points} of" in (tmp_path / START).read_text()
