"""The attack bank: whatever is handed in gains no point, harms no sibling's result and does not stop the run.

Each attack is graded, and an honest sibling after it, in one sandbox that all of them share. Attacks that only look
are run by plain Python, too: there they succeed, so their proof can fail. Some are heavy: they run at the end of
`make test`, while its time allows.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from attacks.bank import HONEST, LOOT, TARGET, WORTH, Attack, World, attacks, cell, notebook
from attacks.proofs import (
    CAUGHT,
    Contacts,
    contents,
    descendants,
    faults_of,
    faults_of_page,
    faults_of_table,
    named,
    open_world,
    watched_run,
    within,
)

from course_utils.grading import pages, tables
from course_utils.grading.command import Options, grade_command
from course_utils.grading.grade import Grader, digest_of, unread
from course_utils.grading.gradebook import Gradebook
from course_utils.grading.notebook import Unreadable
from course_utils.grading.result import Result, Submission
from course_utils.grading.result_json import to_json
from course_utils.grading.sandbox import Limits, NoIsolation
from course_utils.grading.submissions import find_submissions, read

pytestmark = pytest.mark.turns

ROOT = Path(__file__).resolve().parent.parent
BANK = attacks()
SMALL = Limits(cell=0.5, case=0.5, total=3, memory=512 * 2**20, processes=32, disk=32 * 2**20, evidence=8 * 2**20)
"""A twentieth of what is usual, and far more than the honest sibling takes."""
SIBLING = notebook([HONEST, "1 / 0"])
"""A right answer and a failing cell: points and notes show when something around it has changed."""


def params(bank: list[Attack]) -> list[object]:
    heavy = [pytest.mark.heavy]
    return [pytest.param(each, id=f"{each.family}-{each.name}", marks=heavy if each.heavy else []) for each in bank]


@dataclass
class Run:
    """A grader with all that is around it."""

    world: World
    contacts: Contacts
    grader: Grader
    reference: str
    """The sibling's result where nobody attacks."""
    seen: list[Result]
    """What came of the attacks so far."""

    lasting: set[int]
    """Processes of the sandbox that no submission may end: bubblewrap and the warm one."""


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with open_world(ROOT) as (world, contacts):
        with Grader(world.secret, limits=SMALL) as grader:
            try:
                grader.start()
            except NoIsolation as reason:
                pytest.skip(f"no isolation on this machine: {reason}")
            begun = set(descendants(os.getpid()))
            _refuse_unless_contained(grader, world)
            reference = to_json(sibling(grader))
            yield Run(world, contacts, grader, reference, [], begun & set(descendants(os.getpid())))


def _refuse_unless_contained(grader: Grader, world: World) -> None:
    """Attacks are real: nothing of the bank runs where a plain look around sees or writes what is the host's."""
    look = cell(f"""
        import os, torch
        seen = [path for path in {[str(path) for path in world.secrets]!r} if os.path.exists(path)]
        seen += [path for path in ("/", "/usr", os.path.dirname(torch.__file__)) if os.access(path, os.W_OK)]
        seen += [pid for pid in filter(str.isdigit, os.listdir("/proc")) if pid == {str(os.getpid())!r}]
        seen += ["processes of others"] if os.getpid() > 1000 else []
        raise RuntimeError(f"seen: {{seen}}")
    """)
    notes = " ".join(note.text for note in grader.grade(submission("look"), notebook([look])).notes)
    assert "seen: []" in notes, f"the sandbox does not contain; no attack is run: {notes}"


def submission(name: str) -> Submission:
    return Submission(name, f"{name}/01_what_gradients_are.ipynb")


def sibling(grader: Grader) -> Result:
    return grader.grade(submission("sibling"), SIBLING)


def test_the_sibling_has_a_right_answer_and_a_note(run: Run) -> None:
    result = sibling(run.grader)
    outcomes = {marked.verdict.exercise: marked.verdict.outcome for marked in result.exercises}
    assert outcomes[TARGET] == "passed" and result.points == WORTH and "ZeroDivisionError" in result.notes[0].text
    assert to_json(result) == run.reference


@pytest.mark.parametrize("attack", params([each for each in BANK if each.kind == "notebook"]))
def test_a_notebook_gains_nothing_and_harms_nobody(attack: Attack, run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    before = contents(run.world.folder)
    faults: list[str] = []
    for number, data in enumerate(attack.handed(run.world)):
        with watched_run() as wrong:
            result = run.grader.grade(submission(f"{attack.family}-{attack.name}-{number}"), data)
        faults += [*wrong, *faults_of(attack, result)]
        run.seen.append(result)
    faults += _harm_done(run, before)
    out, err = capfd.readouterr()
    if out or err:
        faults.append(f"it wrote on the instructor's terminal: {(out + err)[:200]!r}")
    assert not faults, f"{attack.harm}: {'; '.join(dict.fromkeys(faults))}"


@pytest.mark.parametrize("attack", params([each for each in BANK if each.kind == "folder"]))
def test_a_folder_gains_nothing_and_harms_nobody(attack: Attack, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "submissions"
    folder.mkdir()
    attack.make(folder, run.world)
    (folder / "bob").mkdir()
    (folder / "bob" / "01_what_gradients_are.ipynb").write_bytes(SIBLING)
    before = contents(run.world.folder)
    results: list[Result] = []
    with watched_run() as faults:
        found = find_submissions(folder).submissions
        for each in (*found[:20], *(one for one in found[20:] if one.student == "bob")):
            try:
                results.append(run.grader.grade(each, read(each)))
            except Unreadable as why:
                results.append(unread(each, digest_of(b""), str(why)))
    for result in results:
        faults += faults_of(attack, result, WORTH if result.student == "bob" else None)
    run.seen += results
    honest = [result.points for result in results if result.student == "bob"]
    if honest != [WORTH]:
        faults.append(f"the honest sibling has {honest} points: {[result.student for result in results]}")
    for place in (Path(), Path("/"), Path.home(), Path(tempfile.gettempdir())):
        faults += [f"there is a file {file} that was not there" for file in place.glob("pwned*")]
    faults += _harm_done(run, before)
    assert not faults, f"{attack.harm}: {'; '.join(dict.fromkeys(faults))}"


def _harm_done(run: Run, before: dict[str, str]) -> list[str]:
    """What has changed around a run: an honest sibling's result, files, services, processes."""
    faults = []
    if (after := to_json(sibling(run.grader))) != run.reference:
        faults.append(f"the sibling's result has changed: {after[:500]}")
    if (now := contents(run.world.folder)) != before:
        faults.append(f"files of the host have changed: {sorted(set(now.items()) ^ set(before.items()))}")
    if run.contacts.heard:
        faults.append(f"somebody called the host: {run.contacts.heard}")
        run.contacts.heard.clear()
    # No new one, and none of those of the sandbox has gone: no attack ends the warm process either.
    if not within(5, lambda: set(descendants(os.getpid())) == run.lasting):
        faults.append(f"processes: {descendants(os.getpid())}, and before {sorted(run.lasting)}")
        run.lasting = set(descendants(os.getpid()))
    return faults


def test_no_process_of_any_attack_is_left_anywhere_on_this_machine(run: Run) -> None:
    assert within(5, lambda: not named(run.world.marker))


def test_pages_and_tables_of_all_that_was_handed_in_hold_text_alone(run: Run, tmp_path: Path) -> None:
    results = run.seen or [
        run.grader.grade(submission(f"{each.name}-{number}"), data)
        for each in BANK
        if each.family == "pages" and each.kind == "notebook"
        for number, data in enumerate(each.handed(run.world))
    ]
    book = Gradebook(tmp_path / "gradebook")
    book.begin("secret")
    for result in [*results, sibling(run.grader)]:
        book.put(result)
    tables.write_all(book)
    pages.write_all(book)
    faults = list(book.remarks)
    for path in sorted(book.folder.rglob("*.html")):
        faults += [f"{path.name}: {fault}" for fault in faults_of_page(path.read_text(encoding="utf-8"))]
    for path in sorted(book.folder.glob("*.csv")):
        faults += [f"{path.name}: {fault}" for fault in faults_of_table(path.read_text(encoding="utf-8-sig"))]
    with (book.folder / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["student"]: row["total"] for row in rows}["sibling"] == str(WORTH)
    assert len(rows) == len({result.student for result in results}) + 1
    assert not faults, "; ".join(dict.fromkeys(faults))


@pytest.mark.heavy
def test_the_whole_command_grades_a_folder_of_attacks_to_its_end(run: Run, tmp_path: Path) -> None:
    folder, out = tmp_path / "submissions", tmp_path / "gradebook"
    chosen = [each for each in BANK if each.name in COMMANDED]
    for each in chosen:
        (folder / each.name).mkdir(parents=True)
        (folder / each.name / "notebook.ipynb").write_bytes(each.handed(run.world)[0])
    (folder / "sibling").mkdir()
    (folder / "sibling" / "notebook.ipynb").write_bytes(SIBLING)
    said: list[str] = []
    options = Options(folder, out, seed=run.world.secret, jobs=1, limits=SMALL)
    assert grade_command(options, said.append) == 0
    book = Gradebook(out)
    points = {result.student: result.points for result in [*book.results(), *book.unread()]}
    assert len(chosen) == len(COMMANDED)
    assert points == {**{each.name: each.keeps for each in chosen}, "sibling": WORTH}, said


COMMANDED = (
    "exit_at_once",
    "segfault",
    "loop_in_c",
    "flood_the_socket",
    "hostile_words",
    "malformed",
    "signals_to_all",
)
"""Attacks of every kind that also go through the command, its workers and its gradebook."""


# ------------------------------------------------------------------ the bank itself


def test_each_family_has_attacks_of_its_own_and_each_says_what_it_tries() -> None:
    assert len(BANK) >= 45
    assert len({(each.family, each.name) for each in BANK}) == len(BANK)
    assert all(each.harm and bool(each.gains) == bool(each.limit) for each in BANK)


def test_what_an_attack_says_that_succeeded_is_caught() -> None:
    names: dict[str, list[str]] = {}
    exec(f"{LOOT}\nsucceeded()", names)
    assert CAUGHT.fullmatch(names["loot"][0])


REAL = [each for each in BANK if each.real]
UNJAILED = """
import contextlib, io, json, sys, traceback
from course_utils.learner import evaluate
found = {}
for name, cells in json.load(sys.stdin).items():
    said, points, names = io.StringIO(), 0, {}
    with contextlib.redirect_stdout(said):
        try:
            for source in cells:
                exec(source, names)
            points = evaluate("1.2", names["linear_mse_gradient"]).points
        except BaseException:
            traceback.print_exc(file=said)
    found[name] = [said.getvalue(), points]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def unjailed() -> dict[str, tuple[str, int]]:
    """What the attacks that are real say, and the points that they have, where nothing shuts them in."""
    with open_world(ROOT) as (world, _):
        cells = json.dumps({each.name: each.make(world) for each in REAL})
        command = [sys.executable, "-c", UNJAILED]
        # Without the test's own folders on its path, and from the clone: as a learner's kernel runs.
        ran = subprocess.run(command, input=cells, capture_output=True, text=True, cwd=ROOT, timeout=120)
        assert ran.returncode == 0, ran.stderr
        found: dict[str, tuple[str, int]] = json.loads(ran.stdout.splitlines()[-1])
        return found


@pytest.mark.heavy
@pytest.mark.parametrize("attack", params(REAL))
def test_where_nothing_shuts_it_in_the_attack_succeeds_so_its_proof_can_fail(
    attack: Attack, unjailed: dict[str, tuple[str, int]]
) -> None:
    said, points = unjailed[attack.name]
    assert CAUGHT.search(said) or points > attack.earns, f"{attack.harm}: nothing came of it: {said[-500:]}"
