"""From one submission to its result, with a sandbox that runs in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from graders import notebook

from course_utils.checks.observe import observe_all
from course_utils.exercise import Case, Evidence
from course_utils.grading import grade
from course_utils.grading.grade import Grader, given_up, seed_of
from course_utils.grading.notebook import Cell, Notebook, read_notebook
from course_utils.grading.reaching import reaching
from course_utils.grading.result import Note, Submission
from course_utils.grading.sandbox import Ran
from course_utils.learner import evaluate, solution_code
from course_utils.lessons import exercise, lesson

ADA = Submission("ada", "ada/01.ipynb", notes=("An earlier one does not count.",))
FIRST = lesson(1).exercises[0]
STUDENT = Path(__file__).parents[1] / "notebooks" / f"{lesson(2).slug}.ipynb"


def _solution() -> Callable[..., Any]:
    space: dict[str, Any] = {"torch": torch}
    exec(solution_code(FIRST.id), space)
    found: Callable[..., Any] = space[FIRST.name]
    return found


central = _solution()


class Here:
    """A sandbox without walls: the functions come from the test, not from the notebook."""

    functions: Mapping[str, Callable[..., Any]] = {}
    notes: tuple[Note, ...] = ()
    handed: Mapping[str, Sequence[Case]] = {}
    code = "def f(): ..."
    forge: Callable[[list[Evidence]], list[Evidence]] = staticmethod(lambda evidence: evidence)

    def __init__(self, *_: object) -> None: ...

    def run(self, notebook: Notebook, cases: Callable[[], Mapping[str, Sequence[Case]]]) -> Ran:
        Here.handed = cases()
        evidence = {
            name: Here.forge(observe_all(exercise(name), function, self.handed[name]))
            for name, function in self.functions.items()
        }
        return Ran(evidence, self.notes, dict.fromkeys(evidence, self.code))

    def close(self) -> None: ...


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(grade, "Sandbox", Here)
    kept = dict(vars(Here))
    yield
    for name in ("functions", "notes", "handed", "forge", "code"):
        setattr(Here, name, kept[name])


def test_the_cases_are_those_of_the_seed_in_another_order_and_the_verdict_is_in_theirs() -> None:
    Here.functions = {FIRST.id: lambda f, x, *h, **k: central(f, x, *h, **k) / (2 if x.numel() > 2 else 1)}
    with Grader("secret") as grader:
        marked = grader.grade(ADA, notebook(lesson=1)).exercises[0]
    seed = seed_of("secret", FIRST.id)
    own = FIRST.cases(seed)
    handed = Here.handed[FIRST.id]
    assert handed[0] == own[0] and list(handed) != own
    assert sorted(case.name for case in handed) == sorted(case.name for case in own)
    alone = evaluate(FIRST.id, Here.functions[FIRST.id], seed=seed)
    assert marked.verdict == alone and alone.outcome == "failed"
    assert FIRST.cases(seed_of("another", FIRST.id)) != own


def test_a_result_holds_what_was_noted_and_every_exercise_of_the_lesson() -> None:
    Here.functions = {FIRST.id: central}
    lost = f"exercise {lesson(1).exercises[1].id}"
    Here.notes = (Note("exercise", "Its process ended.", lost), Note("cell", "Cell 2 raised.", "cell 2"))
    with Grader("secret") as grader:
        result = grader.grade(ADA, notebook("import ctypes", lesson=1))
    assert (result.student, result.lesson, result.source) == ("ada", 1, "ada/01.ipynb")
    assert [marked.verdict.exercise for marked in result.exercises] == [task.id for task in lesson(1).exercises]
    assert result.points == FIRST.points and result.max_points == lesson(1).points
    texts = [note.text for note in result.notes]
    assert "An earlier one does not count." in texts and "Cell 2 raised." in texts
    assert any("ctypes" in text for text in texts)
    assert result.exercises[1].notes[0].text == "Its process ended."
    assert result.exercises[1].verdict.outcome == "not attempted" and result.exercises[2].notes == ()


def test_a_wrong_answer_without_a_name_has_a_cluster_and_the_same_one_whoever_wrote_it() -> None:
    clusters = []
    for factor in (lambda g: 1.37 * g + 0.2, lambda g: g * 1.37 + 0.2, lambda g: g * 1.38 + 0.2):
        Here.functions = {FIRST.id: lambda *given, factor=factor, **named: factor(central(*given, **named))}
        with Grader("secret") as grader:
            marked = grader.grade(ADA, notebook(lesson=1)).exercises[0]
        assert marked.verdict.outcome == "failed" and marked.verdict.misconception is None
        clusters.append(marked.cluster)
    assert clusters[0] == clusters[1] != clusters[2] and clusters[0].startswith(f"{FIRST.id}-")
    Here.functions = {FIRST.id: central}
    with Grader("secret") as grader:
        assert grader.grade(ADA, notebook(lesson=1)).exercises[0].cluster == ""


@pytest.mark.parametrize(
    "forge",
    [
        lambda evidence: [],
        lambda evidence: evidence[:-1],
        lambda evidence: [*evidence, evidence[0]],
        lambda evidence: evidence[::-1],
        lambda evidence: [replace(piece, status="raised", raised=None) for piece in evidence],
        lambda evidence: [replace(piece, result=[[0.5] * 50] * 50) for piece in evidence],
    ],
    ids=["none", "one too few", "one too many", "in another order", "raised nothing", "more than can be judged"],
)
def test_evidence_that_fits_nothing_gets_no_points_and_says_so(
    forge: Callable[[list[Evidence]], list[Evidence]],
) -> None:
    Here.functions, Here.forge = {FIRST.id: central}, staticmethod(forge)
    with Grader("secret") as grader:
        marked = grader.grade(ADA, notebook(lesson=1)).exercises[0]
    assert marked.points == 0 and marked.verdict.outcome == "failed"
    assert "could not be judged" in marked.notes[0].text


def test_code_that_is_broken_as_it_was_handed_out_is_no_attempt_and_no_mistake() -> None:
    task = exercise("2.7")
    [starter] = [
        cell.source for cell in read_notebook(STUDENT.read_bytes()).cells if f"def {task.name}(" in cell.source
    ]
    space: dict[str, Any] = {"torch": torch}
    exec(starter.partition("check(")[0], space)
    Here.functions, Here.code = {task.id: space[task.name]}, starter.strip()
    for data, outcome in ((STUDENT.read_bytes(), "not attempted"), (notebook(starter + "#", lesson=2), "failed")):
        with Grader("secret") as grader:
            marked = grader.grade(ADA, data).exercises[-1]
        assert (marked.verdict.outcome, marked.verdict.points) == (outcome, 0)
        assert (marked.verdict.misconception is None) == (outcome == "not attempted")


def test_what_is_no_notebook_is_a_result_that_says_why() -> None:
    with Grader("secret") as grader:
        result = grader.grade(ADA, b"\x00\x01")
    assert result.lesson is None and result.exercises == () and result.notes[-1].kind == "file"


def test_a_submission_that_is_given_up_gets_no_points_and_a_word_for_the_instructor() -> None:
    result = given_up(ADA, 1, "abc", 3)
    assert result.points == 0 and result.max_points == lesson(1).points and "by hand" in result.notes[-1].text


def test_a_cell_that_reaches_into_the_machinery_is_pointed_out_and_no_other() -> None:
    cells = (
        "import torch, sys\nprint(sys.version)",
        "sys.modules['x'] = 1\nimport ctypes",
        "from course_utils import check",
    )
    found = reaching(Notebook(1, tuple(Cell(number, text) for number, text in enumerate(cells, 1))))
    assert [note.where for note in found] == ["cell 2"] and "ctypes, sys.modules" in found[0].text
    assert reaching(Notebook(1, (Cell(1, "import ctypes", published=True),))) == ()
