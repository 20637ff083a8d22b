"""Where the learner stands, lesson by lesson: as numbers, and as the page on which JupyterLab opens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils import record
from course_utils.checks import answers_are_here
from gradient_ledger.files import write_atomically

if TYPE_CHECKING:  # the lessons import torch, and `course doctor` must run without
    from course_utils.exercise import Exercise
    from course_utils.lessons import Lesson

START = "00_start.md"
"""The start page's name, which sorts before the lessons."""


@dataclass(frozen=True)
class Standing:
    """What the record holds of one lesson. `upcoming` is the first exercise that is not passed, None after the last.

    Where no answer is, an exercise counts as passed once its code ran on every case.
    """

    lesson: Lesson
    points: int
    passed: int
    predicted: int
    came_true: int
    answered_right: int
    upcoming: Exercise | None

    @property
    def shown_points(self) -> str:
        """The points reached, of all; where no answer is, all alone."""
        return f"{self.points} of {self.lesson.points}" if answers_are_here() else str(self.lesson.points)

    @property
    def predictions(self) -> int:
        return sum(question.kind == "prediction" for question in self.lesson.questions)

    @property
    def quizzes(self) -> int:
        return len(self.lesson.questions) - self.predictions


def standing(lesson: Lesson) -> Standing:
    """Where the learner stands in `lesson`."""
    known = record.read(lesson.number)

    def entry(identifier: str) -> record.Entry:
        return known.get(identifier, {})

    done = "passed" if answers_are_here() else "ran"
    open_ones = [exercise for exercise in lesson.exercises if not entry(exercise.id).get(done)]
    committed = [q for q in lesson.questions if q.kind == "prediction" and entry(q.id).get("choice")]
    return Standing(
        lesson,
        points=sum(int(entry(exercise.id).get("points", 0)) for exercise in lesson.exercises),
        passed=len(lesson.exercises) - len(open_ones),
        predicted=len(committed),
        came_true=sum(entry(q.id).get("measured") == entry(q.id)["choice"] for q in committed),
        answered_right=sum(q.kind == "quiz" and entry(q.id).get("right") is True for q in lesson.questions),
        upcoming=open_ones[0] if open_ones else None,
    )


def write_start_page(folder: Path) -> None:
    """Write the start page into the workbook. Raises `OSError` where that cannot be done."""
    from course_utils.lessons import lessons

    text = start_page([standing(lesson) for lesson in lessons()], datetime.now())
    write_atomically(folder / START, text)


def start_page(all_of_them: list[Standing], now: datetime) -> str:
    """The start page, as Markdown: the lessons, where the learner stands, the next step, and how a lesson works."""
    rows = [
        f"| [Lesson {at.lesson.number}: {at.lesson.title}]({at.lesson.slug}.ipynb) | {at.lesson.minutes} "
        f"| {at.shown_points} | {at.passed} of {len(at.lesson.exercises)} "
        f"| {at.predicted} of {at.predictions} | {at.answered_right} of {at.quizzes} |"
        for at in all_of_them
    ]
    points, most = sum(at.points for at in all_of_them), sum(at.lesson.points for at in all_of_them)
    marked = answers_are_here()
    return _PAGE.format(
        next=_next_step(all_of_them),
        counted="Exercises passed" if marked else "Exercises that run",
        state=f"You have {points} of {most} points"
        if marked
        else "Your instructor marks your work: this is how far you are",
        check=_CHECK if marked else _CHECK_WITHOUT_ANSWERS,
        hint=_HINT if marked else _HINT_WITHOUT_ANSWERS,
        rows="\n".join(rows),
        now=f"{now:%Y-%m-%d, %H:%M}",
    )


def _next_step(all_of_them: list[Standing]) -> str:
    for at in all_of_them:
        if at.upcoming is None:
            continue
        if not (at.passed or at.predicted or at.answered_right):
            return f"open [Lesson {at.lesson.number}: {at.lesson.title}]({at.lesson.slug}.ipynb)"
        cell = f"banner-{at.upcoming.id.replace('.', '-')}"
        return f"[exercise {at.upcoming.id}, {at.upcoming.title}]({at.lesson.slug}.ipynb#cell-id={cell})"
    if not answers_are_here():
        return "hand in your notebooks: every exercise there is runs on all of its cases"
    return (
        "you have passed every exercise there is. `course audit train.py` does for your own loop what you learned here"
    )


_CHECK = """\
The cell below it, `check`, tries your code on several cases. It names the mistake where it knows
  it, and keeps your points. Check as often as you like: points are never taken away."""
_CHECK_WITHOUT_ANSWERS = """\
The cell below it, `check`, runs your code on several cases and says what came of it. Whether it is
  right, it cannot say: this copy of the course holds no answers, and your instructor marks your work."""
_HINT = """\
`hint("1.1")` gives a nudge; called again, a stronger one. `solution("1.1")` opens after a pass or two
  different attempts. Neither costs points."""
_HINT_WITHOUT_ANSWERS = """`hint("1.1")` gives a nudge; called again, a stronger one. It costs no points."""

_PAGE = """\
# The Gradient Ledger

**Next step:** {next}.

| Lesson | Minutes | Points | {counted} | Predictions made | Quizzes right |
|:--|--:|--:|--:|--:|--:|
{rows}

{state}, as of {now}. This page is written when JupyterLab starts and whenever you run
`progress()` in a lesson.

## How a lesson works

Run a cell with Shift+Enter, and begin with the first. Text, experiments and exercises take turns.

- **Predict.** Before an experiment, `predict` asks what will come out. Press a letter, then run the experiment. No
  points depend on it: a wrong prediction is what you learn from. A `quiz` answers at once and says why;
  its last choice counts.
- **Write.** In the cell of an exercise replace `...` by your own code and run it.
- **Check.** {check}
- **Hint.** {hint}
- **Come back.** What you wrote and answered is saved, the variables are not: choose *Run All Above Selected Cell* in
  the menu *Run* where you go on.
- **Start again.** `.venv/bin/course reset 1` (in conda `course reset 1`), in a terminal in the folder of the course,
  gives you a fresh lesson 1 and keeps your notebook beside it.
"""
