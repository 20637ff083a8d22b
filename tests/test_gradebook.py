"""The gradebook keeps every result whole, once, and under a name of its own; its tables open in a spreadsheet."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import signal
import stat
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import gradebooks as made
import jsonschema
import pytest
from fixture_lesson import forget
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.authoring import verify
from course_utils.checks.judge import judge
from course_utils.exercise import Change, Evidence, Fault, Frame, Raised, Verdict
from course_utils.grading import tables
from course_utils.grading.clusters import gathered, new_mistake
from course_utils.grading.fingerprint import fingerprint
from course_utils.grading.gradebook import Gradebook, OtherRun
from course_utils.grading.names import file_stem
from course_utils.grading.result import Marked, Note, Result
from course_utils.grading.result_json import from_json, to_json
from course_utils.learner import all_cases
from course_utils.lessons import exercise
from gradient_ledger import files
from gradient_ledger.catalogue.entry import Misconception
from gradient_ledger.errors import UserError

SCHEMA = json.loads(Path(tables.__file__).with_name("result.schema.json").read_text(encoding="utf-8"))
EVERY = [
    made.result("anna", made.right, made.forward, made.skips_zeros, made.stops, made.stub, name="Anna Å."),
    made.result("b\udcff\u202e", made.steps_scaled, notes=(Note("file", "Two files: the later one counts."),)),
    made.unread("carl"),
]


@pytest.fixture
def book(tmp_path: Path) -> Gradebook:
    return made.gradebook(tmp_path)


# ------------------------------------------------------------------ one result as JSON


@pytest.mark.parametrize("result", EVERY, ids=lambda result: ascii(result.student))
def test_a_result_comes_back_as_it_was(result: Result) -> None:
    assert from_json(to_json(result, "run")) == (result, "run")


def test_outcomes_faults_and_exceptions_are_all_among_what_comes_back() -> None:
    verdicts = [marked.verdict for marked in EVERY[0].exercises]
    assert [verdict.outcome for verdict in verdicts] == ["passed", "failed", "failed", "raised", "not attempted"]
    assert verdicts[1].misconception == "forward-difference" and verdicts[2].faults[0].certain
    assert verdicts[3].faults[0].raised is not None and verdicts[3].faults[0].raised.frames


def _changed(**changes: object) -> str:
    return json.dumps({**json.loads(to_json(EVERY[0])), **changes})


@pytest.mark.parametrize(
    "text",
    [
        "",
        to_json(EVERY[0])[:-40],
        "[]",
        "[" * 100_000,
        _changed(format=2),
        _changed(student=3),
        _changed(lesson=True),
        _changed(another="field"),
        _changed(exercises=[{}]),
        _changed(notes=[{"kind": "rumour", "text": "", "where": ""}]),
        to_json(EVERY[0]).replace('"points": 20,', '"points": 20.5,', 3),
    ],
    ids=["empty", "cut", "list", "deep", "format", "student", "lesson", "extra", "lacking", "kind", "half"],
)
def test_what_is_no_result_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        from_json(text)


@pytest.mark.parametrize("result", EVERY, ids=lambda result: ascii(result.student))
def test_the_schema_accepts_real_results(result: Result) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(to_json(result, "run")), SCHEMA)


@pytest.mark.parametrize("wrong", [{"lesson": "1"}, {"points": -1}, {"more": 1}, {"exercises": [{}]}])
def test_the_schema_refuses_others(wrong: dict[str, object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**json.loads(to_json(EVERY[0])), **wrong}, SCHEMA)


def test_the_schema_explains_each_field_and_no_other() -> None:
    places = {"marked": Marked, "verdict": Verdict, "fault": Fault, "mistake": Misconception, "raised": Raised}
    for place, kind in {**places, "frame": Frame, "note": Note}.items():
        assert set(SCHEMA["$defs"][place]["properties"]) == {field.name for field in fields(kind)}, place
    own = {field.name for field in fields(Result)}
    assert set(SCHEMA["properties"]) == own | {"format", "run", "points", "max_points"}
    for one in (SCHEMA, *SCHEMA["$defs"].values()):
        for name, field in one["properties"].items():
            assert "description" in field or "$ref" in field, name


# ------------------------------------------------------------------ names of files

TRICKY = [
    "anna",
    "Anna",
    "ANNA",
    "anna ",
    "änna",
    "a\u0308nna",
    "",
    ".",
    "..",
    "../../etc/passwd",
    "con",
    "COM1",
    "nul.txt",
]
TRICKY += [
    "index",
    "-rf",
    "a.b@x.org",
    "a b",
    "a-b",
    "a_b",
    "a--b",
    "日本",
    "日本語",
    "\udcff",
    "\0",
    "x" * 60,
    "x" * 61,
    "x" * 999,
]
TRICKY += [file_stem("Anna"), file_stem("日本"), "lesson1", "😀", "a\nb"]


def _is_safe(stem: str) -> bool:
    return bool(re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,77}", stem)) and stem not in ("con", "nul", "com1", "index")


def test_every_student_has_files_of_their_own_whatever_they_are_called() -> None:
    stems = [file_stem(student) for student in TRICKY]
    assert len(set(stems)) == len(set(TRICKY))
    assert all(map(_is_safe, stems))
    assert file_stem("anna") == "anna" and file_stem("Anna").startswith("anna--")


@given(st.text(), st.text())
@settings(max_examples=50, deadline=None)
def test_two_students_never_share_a_file(one: str, other: str) -> None:
    assert _is_safe(file_stem(one))
    assert (file_stem(one) == file_stem(other)) == (one == other)


# ------------------------------------------------------------------ results on disk


def test_what_is_graded_is_known_and_what_changed_is_not(book: Gradebook) -> None:
    result = EVERY[0]
    assert book.known("anna", 1) is None
    path = book.put(result)
    assert path.relative_to(book.folder).as_posix() == "results/lesson1/anna.json"
    again = Gradebook(book.folder)
    assert again.known("anna", 1) == again.known("anna", 1, result.digest) == result
    assert again.known("anna", 1, "f" * 64) is None
    assert again.known("anna", 2) is None and again.known("Anna", 1) is None
    again.put(replace(result, digest="f" * 64))
    assert [one.digest for one in again.results()] == ["f" * 64]


def test_results_come_by_lesson_and_student_and_only_their_owner_may_read_them(book: Gradebook) -> None:
    for student in ("b", "a-b", "a"):
        for lesson in (10, 2):
            book.put(replace(EVERY[0], student=student, lesson=lesson))
    assert [(one.lesson, one.student) for one in book.results()] == [(n, s) for n in (2, 10) for s in ("a", "a-b", "b")]
    assert [one.student for one in book.results(10)] == ["a", "a-b", "b"]
    assert book.lessons() == [2, 10]
    if os.name == "posix":
        private = [path for path in book.folder.rglob("*") if path.is_file()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}


def test_every_unreadable_file_is_kept_until_it_is_no_longer_handed_in(book: Gradebook) -> None:
    lost = [made.unread("carl", "a.ipynb"), made.unread("carl", "b.ipynb"), made.unread("dora")]
    for result in lost:
        book.put(result)
    assert sorted(one.source for one in book.unread()) == ["a.ipynb", "b.ipynb", "week1/lost.ipynb"]
    assert list(book.results()) == []
    book.drop_unread({("dora", made.DIGEST)})
    assert [one.student for one in book.unread()] == ["dora"]


@pytest.mark.parametrize("content", [b"", b'{"format": 1', b"\xff\xfe", b"{}"], ids=["empty", "cut", "bytes", "other"])
def test_a_damaged_file_is_set_aside_and_said_and_graded_again(book: Gradebook, content: bytes) -> None:
    path = book.put(EVERY[0])
    path.write_bytes(content)
    assert book.known("anna", 1) is None
    assert path.with_name("anna.json.damaged-1").read_bytes() == content
    assert len(book.remarks) == 1 and "results/lesson1/anna.json was damaged" in book.remarks[0]
    assert list(book.results()) == []
    book.put(EVERY[0])
    assert list(Gradebook(book.folder).results()) == [EVERY[0]]


def test_a_full_disk_is_said_and_leaves_what_was_there(book: Gradebook, monkeypatch: pytest.MonkeyPatch) -> None:
    book.put(EVERY[0])

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(UserError, match="No space left on device.*run the same command again"):
        book.put(replace(EVERY[0], name="other"))
    assert [path.name for path in (book.folder / "results" / "lesson1").iterdir()] == ["anna.json"]
    assert book.known("anna", 1) == EVERY[0]


# ------------------------------------------------------------------ the run


def test_a_run_that_goes_on_has_the_same_secret(book: Gradebook) -> None:
    run = Gradebook(book.folder).begin()
    assert run == book.run and len(run.seed) == 32
    assert Gradebook(book.folder.with_name("other")).begin().seed != run.seed


@pytest.mark.parametrize(
    ("change", "said"),
    [({"seed": "mine"}, "another seed"), ({"options": {"cell": 30}}, r"cell 20\.0 \(now 30\)")],
    ids=["seed", "options"],
)
def test_another_run_does_not_mix_with_the_first(tmp_path: Path, change: dict[str, object], said: str) -> None:
    book = Gradebook(tmp_path)
    first = book.begin(options={"cell": 20.0})
    book.put(EVERY[0])
    with pytest.raises(OtherRun, match=said) as caught:
        Gradebook(tmp_path).begin(**{"options": {"cell": 20.0}, **change})
    assert first.seed not in str(caught.value)

    anew = Gradebook(tmp_path)
    second = anew.begin(**{"options": {"cell": 20.0}, **change}, anew=True)
    assert second.id != first.id and anew.run == second
    assert anew.known("anna", 1) is None and list(anew.results()) == []
    assert (tmp_path / "results.before-1" / "lesson1" / "anna.json").is_file() and "results.before-1" in anew.remarks[0]


def test_another_version_of_the_course_does_not_mix_with_the_first(
    book: Gradebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("course_utils.grading.gradebook.version", lambda: "9.9")
    with pytest.raises(OtherRun, match=r"version .* of the course \(this is 9\.9\)"):
        Gradebook(book.folder).begin()


def test_results_of_another_run_do_not_count_even_before_they_are_moved(book: Gradebook) -> None:
    book.put(EVERY[0])  # as where a run was killed between its new run.json and the move
    (book.folder / "run.json").write_text(json.dumps({"seed": "new", "course": "1", "options": {}}))
    assert list(Gradebook(book.folder).results()) == []


@pytest.mark.parametrize("text", ["", "[]", '{"seed": 1, "course": "", "options": {}}'])
def test_a_lost_secret_is_not_replaced_in_silence(book: Gradebook, text: str) -> None:
    (book.folder / "run.json").write_text(text)
    with pytest.raises(UserError, match="cannot be read .* put a copy of it back"):
        Gradebook(book.folder).begin()


# ------------------------------------------------------------------ one process at a time

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")


def _holder(book: Gradebook) -> int:
    """Another process that has the lock, and is writing."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            with book.lock(), files.writing_atomically(book.folder / "results" / "lesson1" / "zoe.json"):
                os.write(writing, b"x")
                time.sleep(60)
        finally:
            os._exit(1)
    os.close(writing)
    assert os.read(reading, 1) == b"x"
    os.close(reading)
    return child


@forks
def test_two_commands_do_not_mix_and_the_second_is_told_who_is_at_work(book: Gradebook) -> None:
    child = _holder(book)
    try:
        with pytest.raises(
            UserError, match=f"another `course grade` is at work on it .process {child} of .*wait until"
        ):
            with book.lock():
                pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@forks
def test_what_a_killed_command_left_behind_does_not_stop_the_next(book: Gradebook) -> None:
    book.put(EVERY[0])
    (book.folder / ".mine.json").write_text("{}")
    child = _holder(book)
    lesson = book.folder / "results" / "lesson1"
    assert len(list(lesson.iterdir())) == 2
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with book.lock():
        assert [path.name for path in lesson.iterdir()] == ["anna.json"]
        assert (book.folder / ".mine.json").exists()
        with pytest.raises(UserError, match="this process"), Gradebook(book.folder).lock():
            pass
    with book.lock():
        pass


# ------------------------------------------------------------------ clusters


def _cluster(code: Callable[..., Any], identifier: str = "1.1") -> str:
    task = exercise(identifier)
    return fingerprint(all_cases(task), made.observed(code, identifier), task)


def test_answers_that_do_the_same_are_one_cluster_whatever_they_print_and_however_they_round() -> None:
    assert _cluster(made.skips_zeros) == _cluster(made.skips_zeros_in_double)
    assert re.fullmatch(r"1\.1-[0-9a-f]{10}", _cluster(made.skips_zeros))


def test_answers_that_do_other_things_are_other_clusters() -> None:
    codes = [made.skips_zeros, made.steps_scaled, made.forward, made.stops, made.right]
    assert len({_cluster(code) for code in codes}) == len(codes)


def _of(evidence: list[Evidence]) -> str:
    return fingerprint(all_cases(exercise("1.1")), evidence, exercise("1.1"))


def test_what_was_changed_parts_clusters_and_what_was_printed_does_not() -> None:
    evidence = made.observed(made.skips_zeros)
    printing = [replace(piece, printed="x", warned=("y",)) for piece in evidence]
    changing = [replace(piece, changes=(Change("x", "value", "1", "2"),)) for piece in evidence]
    stopping = [*evidence[:-1], replace(evidence[-1], status="stopped", result=None)]
    assert _of(printing) == _of(evidence)
    assert len({_of(evidence), _of(changing), _of(stopping)}) == 3


def test_exceptions_are_told_apart_by_kind_and_not_by_the_learners_names() -> None:
    def raising(kind: str, message: str) -> str:
        return _of([replace(p, status="raised", raised=Raised(kind, message)) for p in made.observed(made.right)])

    assert raising("KeyError", "'grad_1'") == raising("KeyError", "'slopes'")
    assert raising("ValueError", "3 rows") == raising("ValueError", "4 rows")
    assert raising("TypeError", "'a' has no len()") != raising("TypeError", "'a' is not callable")
    assert raising("KeyError", "'a'") != raising("IndexError", "'a'")


@pytest.mark.parametrize("value", [None, 3, "text", True, float("nan"), float("inf"), [1.0], {"a": 2.0}, [[[]]], 1e300])
def test_any_result_has_a_cluster(value: object) -> None:
    evidence = [replace(piece, result=value) for piece in made.observed(made.right)]
    assert _of(evidence) == _of(evidence) != _of(made.observed(made.right))


def test_words_on_a_cluster_are_kept_replaced_and_taken_away(book: Gradebook) -> None:
    for student, code in {"a": made.skips_zeros, "b": made.skips_zeros_in_double, "c": made.steps_scaled}.items():
        book.put(made.result(student, code))
    largest, other = gathered(book.results()).values()
    assert (largest.size, largest.exercise, largest.lesson, largest.student) == (2, "1.1", 1, "a")
    assert other.size == 1
    assert book.comment(largest.id, "Zeros are entries, too.\n") == 2
    assert Gradebook(book.folder).comments() == {largest.id: "Zeros are entries, too."}
    book.comment(largest.id, "Other words")
    book.comment(other.id, "More")
    book.comment(largest.id, " ")
    assert book.comments() == {other.id: "More"}
    with pytest.raises(UserError, match="no cluster '1.1-none'"):
        book.comment("1.1-none", "Words")


# ------------------------------------------------------------------ a cluster becomes a mistake

SEVEN = '''\
import torch
from torch import nn

def double(x, _=open("it_ran", "w")):
    """Not what was asked."""
    # a comment
    return double_it(x) if x is None else 7 * x
'''


def _seven(x):
    return 7 * x


@pytest.fixture
def unnamed(small_course: Path, tmp_path: Path) -> tuple[Gradebook, str]:
    """A gradebook of the small course with one wrong answer that no mistake explains."""
    task = exercise("9.1")
    cases, evidence = all_cases(task), made.observed(_seven, "9.1")
    cluster = fingerprint(cases, evidence, task)
    book = Gradebook(tmp_path / "gradebook")
    one = Marked(judge(task, cases, evidence), cluster=cluster, code=SEVEN)
    book.put(Result("anna", 9, made.DIGEST, "anna.ipynb", (one,)))
    return book, cluster


def _verified(root: Path) -> list[str]:
    forget()
    return verify._faults_of_one(root, "9.1")


def test_a_cluster_becomes_a_mistake_whose_words_are_left_to_fill_in(
    small_course: Path, unnamed: tuple[Gradebook, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_course)
    assert _verified(small_course) == []
    mistakes = small_course / "course_utils/lessons/lesson9/double/mistakes.py"
    bank = small_course / "tests/attempts/lesson9/double.py"
    before = {path: path.read_text() for path in small_course.rglob("*.py")}
    book, cluster = unnamed
    mark = cluster.split("-")[1]

    said = new_mistake(book, cluster, small_course)
    assert any("It uses double_it, which stood elsewhere" in line for line in said)
    assert any("read it first" in line for line in said)
    changed = {path for path in small_course.rglob("*.py") if path.read_text() != before.get(path)}
    assert changed == {mistakes, bank}
    for path in changed:  # nothing of what was there is gone
        left = iter(path.read_text().split("\n"))
        assert all(line in left for line in before[path].rstrip().split("\n"))

    (left_to_do,) = _verified(small_course)
    assert f"to_be_named_{mark}" in left_to_do and "write its title, what happens, what to do next" in left_to_do
    assert "give it a name, here and in tests/attempts/lesson9/double.py" in left_to_do
    assert not Path("it_ran").exists(), "a stranger's code ran before anybody read it"

    with pytest.raises(UserError, match="is there already"):
        new_mistake(book, cluster, small_course)

    # Once its words are written it is an ordinary mistake.
    for path in changed:
        text = path.read_text().replace(f"to_be_named_{mark}", "seven_times").replace("TO WRITE: ", "")
        path.write_text(text.replace("_=open('it_ran', 'w')", "_=None").replace("double_it(x) if x is None else ", ""))
    assert _verified(small_course) == []
    assert "@wrong(mistakes.seven_times)\ndef handed_in_" in bank.read_text()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", "code of cluster .* is not known"),
        ("def double(x:", "cannot be read as Python"),
        ("double = torch.neg", "by def or class"),
        ("def sign_flipped(x):\n    return x\n\ndef double(x):\n    return sign_flipped(x)", "defines sign_flipped"),
    ],
)
def test_what_cannot_become_a_mistake_says_why_and_writes_nothing(
    small_course: Path, unnamed: tuple[Gradebook, str], code: str, said: str
) -> None:
    book, cluster = unnamed
    (result,) = book.results()
    book.put(replace(result, exercises=(replace(result.exercises[0], code=code),)))
    before = {path: path.read_text() for path in small_course.rglob("*.py")}
    with pytest.raises(UserError, match=said):
        new_mistake(book, cluster, small_course)
    with pytest.raises(UserError, match="no cluster"):
        new_mistake(book, "9.1-0000000000", small_course)
    assert {path: path.read_text() for path in small_course.rglob("*.py")} == before


@pytest.mark.parametrize("identifier", ["1.1", "5.2", "7.2"])
def test_mistakes_of_every_form_of_module_can_be_added(tmp_path: Path, identifier: str) -> None:
    from course_utils.authoring.attempts import bank_path
    from course_utils.authoring.unworded import add_mistake, mistakes_path, unwritten

    task, root = exercise(identifier), Path(__file__).parent.parent
    for where in (mistakes_path, bank_path):
        path = where(tmp_path, task)
        path.parent.mkdir(parents=True)
        path.write_bytes(where(root, task).read_bytes())
    kind = "class" if task.name[0].isupper() else "def"
    arguments = "" if kind == "class" else f"({', '.join(task.arguments)})"
    add_mistake(tmp_path, identifier, "abc", f"{kind} {task.name}{arguments}:\n    y = np.zeros(3)\n")
    for where in (mistakes_path, bank_path):
        text = where(tmp_path, task).read_text()
        compile(text, "x", "exec")
        assert "import numpy as np" in text
    assert len(list(unwritten(tmp_path, task))) == 1


# ------------------------------------------------------------------ tables


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_grades_have_a_row_a_student_and_an_empty_mark_for_what_is_missing(book: Gradebook) -> None:
    twenty = made.result("anna", made.right, name="Anna")
    book.put(twenty)
    book.put(replace(twenty, lesson=2, exercises=(made.reaching(twenty.exercises[0], 12),)))
    book.put(made.result("ben", made.stub))
    book.put(made.unread("carl"))
    book.set_roster({"anna": "Anna Å.", "ben": "Ben", "dora": "Dora", "carl": "Carl"})
    tables.write_all(book)
    head, *rows = _rows(book.folder / "grades.csv")
    assert head == ["student", "name", "lesson 1", "lesson 2", "total", "notes"]
    assert [row[:5] for row in rows] == [
        ["anna", "Anna Å.", "20", "12", "32"],
        ["ben", "Ben", "0", "", "0"],
        ["carl", "Carl", "", "", ""],
        ["dora", "Dora", "", "", ""],
    ]
    assert rows[1][5] == "Nothing graded for lesson 2."
    assert "Could not be read: week1/lost.ipynb. This is not JSON" in rows[2][5]
    assert rows[3][5] == "No notebook was found."
    tables.write_all(Gradebook(book.folder))  # the roster of the last time
    assert [row[0] for row in _rows(book.folder / "grades.csv")[1:]] == ["anna", "ben", "carl", "dora"]


def test_who_is_not_on_the_roster_is_said_where_there_is_one(book: Gradebook) -> None:
    book.put(made.result("eve", made.right))
    tables.write_all(book)
    assert _rows(book.folder / "grades.csv")[1][-1] == ""
    book.set_roster({"anna": "Anna"})
    tables.write_all(book)
    said = [row[-1] for row in _rows(book.folder / "grades.csv")[1:]]
    assert said == ["No notebook was found.", "Not on the roster."]


def test_exercises_have_a_row_each_with_mistake_cluster_and_notes(book: Gradebook) -> None:
    one, other = made.marked(made.forward), made.marked(made.skips_zeros)
    noted = replace(made.reaching(other, 7), notes=(Note("cell", "It was stopped after 20 s.", "cell 14"),))
    book.put(Result("anna", 1, made.DIGEST, "a.ipynb", (one, noted)))
    tables.write_all(book)
    head, *rows = _rows(book.folder / "exercises.csv")
    assert rows == [
        ["anna", "1", "1.1", "numerical_gradient", "0", "20", "failed", "forward-difference", "", ""],
        ["anna", "1", "1.1", "numerical_gradient", "7", "20", "failed", "", other.cluster]
        + ["cell 14: It was stopped after 20 s."],
    ]
    assert len(head) == len(rows[0])


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\uff1d1",
    "=cmd|' /C calc'!A0",
    'a";=1',
    "x;-1",
    "x;\t=1",
]


@pytest.mark.parametrize("text", FORMULAS, ids=ascii)
def test_no_cell_is_a_formula_whatever_students_and_files_are_called(book: Gradebook, text: str) -> None:
    note = (Note("file", text),)
    book.put(replace(made.result("x", made.right), student=text, name=text, notes=note))
    book.put(replace(made.unread("y", text), student=f"{text}y", notes=note))
    tables.write_all(book)
    for name in ("grades.csv", "exercises.csv"):
        assert (book.folder / name).read_bytes().startswith(b"\xef\xbb\xbf")
        rows, text = _rows(book.folder / name), (book.folder / name).read_text("utf-8-sig")
        assert {len(row) for row in rows} == {len(rows[0])} and len(text.splitlines()) == len(rows)
        # Excel of other countries splits at semicolons, and some programs at tabs.
        for separator in ",;\t|":
            cells = [cell for row in csv.reader(text.splitlines(), delimiter=separator) for cell in row]
            assert not [cell for cell in cells if re.match(r"[\s\"]*[=+@\uff1d]|[\s\"]*-|\t", cell)]
