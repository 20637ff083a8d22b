"""The bank of attempts, observed where no answer exists: every answer gets the verdict that its mark says.

That the same holds at another seed, with both halves in one process, and that the code of every mistake is named after
it, is what `course verify` checks, on every attempt. Here every twelfth one of every third exercise is judged: what the
mistakes leave at another seed takes most of the time. `make test PART=all` judges all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from course_utils.authoring.attempts import Attempt, attempts
from course_utils.authoring.verify import SEEDS, limit_of
from course_utils.checks import knows_an_answer
from course_utils.checks.judge import judge
from course_utils.exercise import Evidence
from course_utils.learner import all_cases
from course_utils.lessons import exercise, lessons
from course_utils.plain import from_bytes

ROOT = Path(__file__).resolve().parent.parent
BANK = [attempt for each in lessons() for attempt in attempts(ROOT, each.number)]
IDS = [task.id for each in lessons() for task in each.exercises]
SAMPLE = os.environ.get("COURSE_PART") != "all"
SEED = SEEDS[1]
"""Not the one at which `course verify` judges the bank."""
FIRST = exercise(lessons()[0].exercises[0].id)


def left_out(at: int, attempt: Attempt) -> bool:
    return SAMPLE and bool(at % 12 or IDS.index(attempt.exercise) % 3)


@pytest.mark.parametrize(
    "attempt",
    [attempt for at, attempt in enumerate(BANK) if not left_out(at, attempt)],
    ids=lambda attempt: f"{attempt.exercise}-{attempt.name}",
)
@pytest.mark.turns
def test_observed_in_a_process_without_answers_the_verdict_is_the_one_marked(
    attempt: Attempt, sandbox: Sandbox
) -> None:
    task = exercise(attempt.exercise)
    evidence = sandbox.observe(attempt.path, task.id, attempt.name, SEED, limit_of(attempt))
    verdict = judge(task, all_cases(task, SEED), evidence)
    said = [[words.id for words in fault.mistakes] or fault.certain for fault in verdict.faults]
    assert attempt.agrees(verdict), f"{verdict.outcome}: {said}"


def test_the_names_of_a_module_do_not_hide_each_other() -> None:
    for path in {attempt.path for attempt in BANK}:
        marks = sum(
            line.startswith(("@right", "@wrong", "@raised", "right(", "wrong(", "raised(")) for line in path.open()
        )
        assert marks == len({attempt.name for attempt in BANK if attempt.path == path}), path


# ------------------------------------------------------------------ the process without answers

CHILD = r"""
import importlib.util, json, os, sys
from pathlib import Path, PurePath
from types import ModuleType

root, wire = os.path.realpath(sys.argv[1]), os.dup(1)
os.dup2(2, 1)  # what an attempt prints past the check must not end up between the answers
from course_utils.checks import knows_an_answer


class NoAnswers:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("course_utils.") and knows_an_answer(PurePath(*name.split("."))):
            raise ModuleNotFoundError(f"{name} does not exist here", name=name)


def guard(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = Path(os.path.realpath(os.fsdecode(arguments[0])))
        if path.is_relative_to(root) and knows_an_answer(path.relative_to(root)) and "site-packages" not in path.parts:
            raise PermissionError(f"{path} does not exist here")


sys.meta_path.insert(0, NoAnswers())
sys.addaudithook(guard)

from course_utils.checks import effects
from course_utils.checks.observe import observe_all
from course_utils.learner import all_cases
from course_utils.lessons import exercise
from course_utils.plain import to_bytes


class Nameless(ModuleType):
    # The marks of the bank name mistakes; here stands something else in their place, without an answer in it.
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return effects.endless_loop


loaded = {}


def module_of(path, task):
    if path not in loaded:
        homes = (task.home, task.home.rpartition(".")[0])  # the marks name its own mistakes, or those of its lesson
        for home in homes:
            sys.modules[home + ".mistakes"] = sys.modules[home].mistakes = Nameless(home + ".mistakes")
        spec = importlib.util.spec_from_file_location("attempts_at_" + PurePath(path).stem, path)
        loaded[path] = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded[path])
        for home in homes:
            del sys.modules[home + ".mistakes"], sys.modules[home].mistakes
    return loaded[path]


for line in sys.stdin:
    path, identifier, name, seed, limit = json.loads(line)
    task = exercise(identifier)
    attempt = getattr(module_of(path, task), name)
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

    def observe(self, path: Path, identifier: str, name: str, seed: int, limit: float = 10.0) -> list[Evidence]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(path), identifier, name, seed, limit]).encode() + b"\n")
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
    "imports the answers": (f"from {FIRST.home}.answers import right", "ModuleNotFoundError"),
    "imports the mistakes": (f"from {FIRST.home}.mistakes import forward_difference", "ModuleNotFoundError"),
    "imports the judge": ("from course_utils.checks.judge import judge", "ModuleNotFoundError"),
    "imports the diagnosis": ("from course_utils.checks import diagnose", "ModuleNotFoundError|ImportError"),
    "reads the answers' source": (
        "import course_utils.lessons as here\n"
        "    from pathlib import Path\n"
        f"    (Path(here.__file__).parent / 'lesson{FIRST.lesson}' / '{FIRST.name}' / 'answers.py').read_text()",
        "PermissionError",
    ),
    "asks for the solution": (
        f"from course_utils.learner import solution_code\n    solution_code('{FIRST.id}')",
        "PermissionError",
    ),
    "reads the lesson's source": (
        "import course_utils.lessons as here\n"
        "    from pathlib import Path\n"
        "    root = Path(here.__file__).parents[2]\n"
        f"    (root / 'solutions' / '{lessons()[0].slug}.py').read_text()",
        "PermissionError",
    ),
}


@pytest.mark.parametrize("peek", PEEKS, ids=lambda name: name.replace(" ", "-"))
def test_where_code_is_observed_there_is_nothing_to_steal(peek: str, sandbox: Sandbox, tmp_path: Path) -> None:
    statement, error = PEEKS[peek]
    thief = tmp_path / "thief.py"
    thief.write_text(f"def thief(*args, **kwargs):\n    {statement}\n    return 1\n", encoding="utf-8")
    first = sandbox.observe(thief, FIRST.id, "thief", 0)[0]
    assert first.status == "raised"
    assert first.raised is not None and first.raised.type in error.split("|"), first.raised


def test_one_rule_tells_what_knows_an_answer() -> None:
    package = ROOT / "course_utils"
    kept = {path.relative_to(ROOT).as_posix() for path in package.rglob("*") if knows_an_answer(path.relative_to(ROOT))}
    for each in lessons():
        for task in each.exercises:
            folder = f"course_utils/lessons/lesson{each.number}/{task.name}"
            assert {f"{folder}/answers.py", f"{folder}/mistakes.py"} <= kept
            assert f"{folder}/task.py" not in kept
    assert {"course_utils/checks/judge/naming.py", "course_utils/lessons/solutions.json"} <= kept
    assert not any(name.startswith("course_utils/checks/observe") for name in kept)
    # What the rule leaves in place names no answer's module in an import at its top.
    for path in package.rglob("*.py"):
        outside = "authoring" in path.parts or ("grading" in path.parts and "jail" not in path.parts)
        if path.relative_to(ROOT).as_posix() in kept or outside:  # what the sandbox has no copy of
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(("from course_utils", "import course_utils")):
                module = line.split()[1]
                assert not knows_an_answer(Path(*module.split("."))), f"{path.name}: {line}"


def test_evidence_of_another_exercise_is_refused(sandbox: Sandbox) -> None:
    attempt = next(attempt for attempt in BANK if attempt.mark == "right")
    other = next(task for each in lessons() for task in each.exercises if task.id != attempt.exercise)
    evidence = sandbox.observe(attempt.path, attempt.exercise, attempt.name, 0)
    with pytest.raises(ValueError, match="not about the cases"):
        judge(other, all_cases(other, 0), evidence)
