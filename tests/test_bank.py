"""The bank of attempts: every file gets the verdict its name says, also when it is observed where no answer exists."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from course_utils.authoring.attempts import Attempt, attempts, load
from course_utils.exercise import Evidence, Verdict
from course_utils.judge import judge
from course_utils.learner import all_cases, evaluate
from course_utils.lessons import exercise, lesson
from course_utils.misconceptions import catalogue
from course_utils.oracles.lesson1 import ORACLES
from course_utils.plain import from_bytes

ROOT = Path(__file__).resolve().parent.parent
LESSON = 1
BANK = attempts(ROOT, LESSON)
SEEDS = (0, 20261)
"""The learner's own cases, and others, as a grader draws them."""
OUTCOMES = {"right": "passed", "wrong": "failed", "raised": "raised"}

every_attempt = pytest.mark.parametrize("attempt", BANK, ids=lambda attempt: attempt.path.stem)
every_seed = pytest.mark.parametrize("seed", SEEDS)


def _limit(attempt: Attempt) -> float:
    """Seconds a case: short where the time limit is what the attempt is about."""
    return 0.5 if attempt.misconception == "endless-loop" else 30.0


@cache
def _verdict(attempt: Attempt, seed: int) -> Verdict:
    return evaluate(attempt.exercise, load(attempt), seed=seed, limit=_limit(attempt))


@every_seed
@every_attempt
def test_the_check_says_what_the_name_of_the_file_says(attempt: Attempt, seed: int) -> None:
    verdict = _verdict(attempt, seed)
    assert (verdict.outcome, verdict.misconception) == (OUTCOMES[attempt.verdict], attempt.misconception), verdict


@every_seed
@every_attempt
def test_observed_in_a_process_without_answers_the_verdict_is_the_same(
    attempt: Attempt, seed: int, sandbox: Sandbox
) -> None:
    task = exercise(attempt.exercise)
    evidence = sandbox.observe(attempt.path, attempt.exercise, seed, _limit(attempt))
    verdict = judge(task, all_cases(task, seed), evidence)
    expected = _verdict(attempt, seed)
    for field in dataclasses.fields(Verdict):
        assert getattr(verdict, field.name) == getattr(expected, field.name), field.name


@pytest.mark.parametrize("task", lesson(LESSON).exercises, ids=lambda task: task.id)
def test_an_exercise_has_six_right_and_eight_wrong_attempts(task) -> None:
    own = [attempt for attempt in BANK if attempt.exercise == task.id]
    assert sum(attempt.verdict == "right" for attempt in own) >= 6
    assert sum(attempt.verdict == "wrong" for attempt in own) >= 8


@pytest.mark.parametrize("identifier", sorted(ORACLES))
def test_every_fingerprint_is_met_by_an_attempt(identifier: str) -> None:
    met = {attempt.misconception for attempt in BANK if attempt.exercise == identifier}
    assert set(ORACLES[identifier].misconceptions) - met == set()


def test_every_name_in_the_bank_stands_in_the_catalogue() -> None:
    assert {attempt.misconception for attempt in BANK if attempt.misconception} - set(catalogue()) == set()


# ------------------------------------------------------------------ the process without answers

CHILD = r"""
import json, os, sys

root, wire = os.path.realpath(sys.argv[1]), os.dup(1)
os.dup2(2, 1)  # what an attempt prints past the check must not end up between the answers
HIDDEN = [os.path.join(root, "solutions"), os.path.join(root, "course_utils", "oracles")]


class NoOracles:
    def find_spec(self, name, path=None, target=None):
        if name == "course_utils.oracles" or name.startswith("course_utils.oracles."):
            raise ModuleNotFoundError(f"{name} does not exist here", name=name)


def guard(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if any(path == hidden or path.startswith(hidden + os.sep) for hidden in HIDDEN):
            raise PermissionError(f"{path} does not exist here")


sys.meta_path.insert(0, NoOracles())
sys.addaudithook(guard)

from pathlib import Path

from course_utils.authoring.attempts import Attempt, load
from course_utils.learner import all_cases
from course_utils.lessons import exercise
from course_utils.observe import observe_all
from course_utils.plain import to_bytes

for line in sys.stdin:
    path, identifier, seed, limit = json.loads(line)
    task = exercise(identifier)
    attempt = load(Attempt(Path(path), identifier, "wrong", None))
    evidence = observe_all(task, attempt, all_cases(task, seed), limit)
    data = to_bytes([piece.to_plain() for piece in evidence])
    for start in (len(data).to_bytes(8, "little"), data):
        while start:
            start = start[os.write(wire, start):]
"""


class Sandbox:
    """One long-lived child that observes and sends evidence as bytes."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )

    def observe(self, path: Path, identifier: str, seed: int, limit: float = 10.0) -> list[Evidence]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(path), identifier, seed, limit]).encode() + b"\n")
        self._process.stdin.flush()
        size = self._process.stdout.read(8)
        assert len(size) == 8, "the observing process ended"
        data = self._process.stdout.read(int.from_bytes(size, "little"))
        return [Evidence.from_plain(piece) for piece in from_bytes(data)]

    def close(self) -> None:
        self._process.communicate(timeout=30)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    child = Sandbox()
    yield child
    child.close()


PEEKS = {
    "imports the oracle": (
        "from course_utils.oracles.lesson1 import ORACLES",
        "ModuleNotFoundError",
    ),
    "imports the judge": ("from course_utils.judge import judge", "ModuleNotFoundError"),
    "reads the oracle's source": (
        "import course_utils.lessons as here\n"
        "    from pathlib import Path\n"
        "    (Path(here.__file__).parents[1] / 'oracles' / 'lesson1.py').read_text()",
        "PermissionError",
    ),
    "asks for the solution": ("from course_utils.learner import solution_code\n    solution_code('1.2')", "Error"),
    "reads the lesson's source": (
        "import course_utils.lessons as here\n"
        "    from pathlib import Path\n"
        "    root = Path(here.__file__).parents[2]\n"
        "    (root / 'solutions' / '01_what_gradients_are.py').read_text()",
        "PermissionError",
    ),
}


@pytest.mark.parametrize("peek", PEEKS, ids=lambda name: name.replace(" ", "-"))
def test_where_code_is_observed_there_is_nothing_to_steal(peek: str, sandbox: Sandbox, tmp_path: Path) -> None:
    statement, error = PEEKS[peek]
    source = f"def linear_mse_gradient(w, x, y):\n    {statement}\n    return 2 * x.T @ (x @ w - y) / len(y)\n"
    thief = tmp_path / "ex1_2__raised__none__thief.py"
    thief.write_text(source, encoding="utf-8")
    first = sandbox.observe(thief, "1.2", 0)[0]
    assert first.status == "raised"
    assert first.raised is not None and first.raised.type.endswith(error), first.raised


def test_evidence_of_another_exercise_is_refused(sandbox: Sandbox) -> None:
    attempt = next(attempt for attempt in BANK if attempt.exercise == "1.2" and attempt.verdict == "right")
    evidence = sandbox.observe(attempt.path, "1.2", 0)
    task = exercise("1.5")
    with pytest.raises(ValueError, match="not about the cases"):
        judge(task, all_cases(task, 0), evidence)
