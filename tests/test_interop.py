"""Results in the formats of other tools: each against the tool itself, or against what it publishes."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from course_utils import cli
from course_utils.authoring.release import choose_terms, release
from course_utils.checks.effects import carries_a_graph
from course_utils.exercise import Fault, Outcome, Verdict
from course_utils.grading import grade as grading
from course_utils.grading.gradebook import Gradebook
from course_utils.grading.interop import canvas, github, gradescope, moodle
from course_utils.grading.interop.one import Student, grade_one
from course_utils.grading.interop.sheet import Sheet
from course_utils.grading.interop.words import lines
from course_utils.grading.result import Marked, Note, Result, Submission
from course_utils.grading.sandbox import NoIsolation
from course_utils.learner import evaluate
from course_utils.lessons import Terms, adopt, lesson
from gradient_ledger.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS: dict[str, str] = json.loads((ROOT / "course_utils/lessons/solutions.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((Path(__file__).parent / "gradescope_results.schema.json").read_text(encoding="utf-8"))
HOSTILE = '=HYPERLINK("http://x")<script>alert(1)</script>\n::error::\x00\ud800,;\'"'


@pytest.fixture(autouse=True)
def usual_terms() -> Iterator[None]:
    yield
    adopt(None)


def result(student: str = "12345", *, solved: int = 2, points: int = 0, number: int = 1) -> Result:
    """A result of a lesson whose first `solved` exercises are passed; `points` of the next one, a partial credit."""
    marked = []
    for at, exercise in enumerate(lesson(number).exercises):
        outcome: Outcome = "passed" if at < solved else "failed" if at == solved else "not attempted"
        reached = exercise.points if at < solved else points if at == solved else 0
        faults = (Fault((1,), "case 1 of 9: one", ("given 3",), (carries_a_graph,)),) if outcome == "failed" else ()
        verdict = Verdict(exercise.id, exercise.name, outcome, reached, exercise.points, faults, cases_total=9)
        marked.append(Marked(verdict))
    return Result(student, number, "0" * 64, "x.ipynb", tuple(marked), name="Jane Doe")


UNREAD = Result("12345", None, "0" * 64, "x.ipynb", notes=(Note("file", "This file is no notebook."),))
NASTY = replace(result(), student=HOSTILE, name=HOSTILE, notes=(Note("cell", HOSTILE, HOSTILE),))


# ------------------------------------------------------------------ a table that a tool exported

CELLS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\0\ufeff"), max_size=8)
TABLES = st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=5)


def written(rows: list[list[str]], **dialect: Any) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, **{"lineterminator": "\r\n", **dialect}).writerows(rows)
    return text.getvalue().encode()


@given(TABLES, st.sampled_from(["\r\n", "\n"]), st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), st.booleans())
def test_a_table_is_read_as_csv_reads_it_and_comes_back_byte_for_byte(
    rows: list[list[str]], end: str, quoting: int, bom: bool
) -> None:
    rows = [["head", "er"], *(row for row in rows if any(row))]
    data = (b"\xef\xbb\xbf" if bom else b"") + written(rows, lineterminator=end, quoting=quoting)
    sheet = Sheet(data, "x.csv")
    assert sheet.rows == rows
    assert sheet.to_bytes() == data


@given(TABLES, CELLS, st.data())
def test_a_new_value_changes_one_cell_and_no_other_byte(rows: list[list[str]], value: str, data: st.DataObject) -> None:
    rows = [["head", "er"], *(row for row in rows if any(row))]
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[row]) - 1))
    before = written(rows)
    sheet = Sheet(before, "x.csv")
    sheet.put(row, column, value)
    after = sheet.to_bytes()
    read = list(csv.reader(io.StringIO(after.decode(), newline="")))
    rows[row][column] = value
    assert [one or [""] for one in read] == [one if any(one) or len(one) > 1 else [""] for one in rows]
    same_before = os.path.commonprefix([before, after])
    same_after = os.path.commonprefix([before[::-1], after[::-1]])
    longest = max(len(written([[value]])), len(written([[Sheet(before, "").rows[row][column]]])))
    assert max(len(before), len(after)) - len(same_before) - len(same_after) <= longest


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "is empty"), (b"\xff\xfe", "not in UTF-8"), (b'a,"b\nc', "never closed"), (b"\n\n", "is empty")],
)
def test_what_is_no_table_is_named(data: bytes, said: str) -> None:
    with pytest.raises(UserError, match=f"x.csv.*{said}"):
        Sheet(data, "x.csv")


# ------------------------------------------------------------------ Canvas

# As Canvas's exporter writes it: a row of posting policies, the row of points, a name that its exporter has guarded.
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Lesson 1 (998),Essay (77),Current Score,Final Score\r
,,,,,Manual Posting,,,\r
    Points Possible,,,,,100.00,20.00,(read only),(read only)\r
"Doe, Jane",12345,S-001,jdoe,Spring,,18.5,92.5,46.25\r
"'=cmd|' /C calc'!A0",67890,007,+ada,Spring,3,,,\r
"Excused, Eve",555,S-003,eve,Spring,EX,,,\r
"Other, Olga",556,S-004,olga,Spring,N/A,,,\r
"Student, Test",9,,1b2c,Spring,,,,\r
"""


def merged(text: str, *results: Result, assignment: str = "Lesson 1", scale: bool = False) -> canvas.Merged:
    return canvas.merge(Sheet(text.encode(), "grades.csv"), results, assignment, scale=scale)


def test_canvas_gets_points_of_the_students_that_its_identifiers_name() -> None:
    done = merged(CANVAS, result("12345"), result("+ada", points=7), result("s-004"), result("S-003"))
    text = done.data.decode()
    assert text == CANVAS.replace("jdoe,Spring,,", "jdoe,Spring,35,").replace("+ada,Spring,3,", "+ada,Spring,42,")
    assert done.placed == 2
    assert done.remarks == ("s-004 stays N/A, as Canvas has it", "S-003 stays EX, as Canvas has it")


def test_canvas_keeps_identifiers_that_look_like_formulas_or_numbers() -> None:
    read = list(csv.reader(io.StringIO(merged(CANVAS, result("007")).data.decode(), newline="")))
    assert read[4][:5] == ["'=cmd|' /C calc'!A0", "67890", "007", "+ada", "Spring"] and read[4][5] == "35"


def test_canvas_takes_the_whole_name_of_a_column_a_mark_of_bytes_and_semicolons() -> None:
    text = "\ufeff" + CANVAS.replace(",", ";").replace("Doe; Jane", "Doe, Jane")
    done = merged(text, result(), assignment="Lesson 1 (998)")
    assert done.data.decode() == text.replace("jdoe;Spring;;", "jdoe;Spring;35;")


def test_a_student_whom_two_rows_could_mean_gets_nothing() -> None:
    done = merged(CANVAS.replace("S-003", "12345"), result("12345"), result("nobody"), result(""))
    assert done.placed == 0 and done.data.decode() == CANVAS.replace("S-003", "12345")
    assert "rows 4, 6 of grades.csv could all be meant" in done.remarks[0]
    assert "nobody is not in grades.csv" in done.remarks[1]


def test_points_of_another_sum_are_refused_or_scaled() -> None:
    tens = CANVAS.replace("100.00", "10.00")
    with pytest.raises(UserError, match="lesson 1 has 100 points, the assignment in Canvas 10: set it to 100 there"):
        merged(tens, result())
    assert "jdoe,Spring,3.5," in merged(tens, result(), scale=True).data.decode()


@pytest.mark.parametrize(
    ("text", "assignment", "said"),
    [
        (CANVAS, "Lesson 2", "no column has the name 'Lesson 2'; its columns are 'Lesson 1 \\(998\\)', 'Essay"),
        (CANVAS, "ID", "no column has the name 'ID'"),
        (CANVAS.replace("Essay (77)", "Lesson 1 (77)"), "Lesson 1", "two columns have the name"),
        (CANVAS, "Final Score", "works out the column 'Final Score' itself"),
        ("Name,Lesson 1\r\nJane,3\r\n", "Lesson 1", "no gradebook that Canvas exported"),
    ],
)
def test_a_column_that_cannot_take_points_is_named(text: str, assignment: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        merged(text, result(), assignment=assignment)


# ------------------------------------------------------------------ Moodle

MOODLE = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 1234567","Jane Doe",jane@example.org,"Submitted for grading",,100.00,Yes,"Monday, 2 March 2026",-,
"Participant 1234568","Ada Li",ada@example.org,"Submitted for grading",50.00,100.00,Yes,-,-,"well done"
"Participant 1234569","Eve Ex",eve@example.org,"No submission",,100.00,No,-,-,
"""


def worksheet(*results: Result, text: str = MOODLE, **options: bool) -> moodle.Merged:
    return moodle.merge(Sheet(text.encode(), "worksheet.csv"), results, **options)


def test_moodle_gets_points_and_a_comment_by_participant_or_address() -> None:
    done = worksheet(result("1234567"), result("ADA@example.org", solved=6), result("1234569"))
    before, after = (list(csv.reader(io.StringIO(text, newline=""))) for text in (MOODLE, done.data.decode()))
    assert [row[4] for row in after] == ["Grade", "35", "100", ""]
    assert after[1][9].startswith(
        "1.1 numerical_gradient: 20 of 20 points, passed<br>1.2 linear_mse_gradient: 15 of 15"
    )
    assert (
        "1.3 parameter_gradients: 0 of 20 points, failed: The result carries a graph (carries-a-graph)" in after[1][9]
    )
    same = [[cell for at, cell in enumerate(row) if at not in (4, 9)] for row in before]
    assert same == [[cell for at, cell in enumerate(row) if at not in (4, 9)] for row in after]
    assert done.placed == 2 and "1234569: the grade is locked in Moodle" in done.remarks[0]


def test_moodle_keeps_comments_when_told_so() -> None:
    done = worksheet(result("Participant 1234568"), feedback=False)
    assert done.data.decode() == MOODLE.replace(",50.00,", ",35,")


def test_a_comment_in_moodle_is_neither_html_nor_a_formula() -> None:
    notes = (Note("cell", "<img src=x onerror=alert(1)>", ""),)
    done = worksheet(replace(UNREAD, student="1234567", notes=(Note("file", HOSTILE), *notes), lesson=1), scale=True)
    comment = list(csv.reader(io.StringIO(done.data.decode(), newline="")))[1][9]
    assert comment.startswith("'=HYPERLINK") and "<script" not in comment and "<img" not in comment
    assert "&lt;img" in comment


def test_moodle_refuses_what_it_would_not_take_back() -> None:
    with pytest.raises(UserError, match="no column 'Last modified \\(grade\\)'. Set the interface to English"):
        worksheet(result(), text=MOODLE.replace("Last modified (grade)", "Zuletzt geändert"))
    with pytest.raises(UserError, match="the assignment in Moodle 10"):
        worksheet(result("1234567"), text=MOODLE.replace("100.00", "10.00"))


def test_a_number_that_is_somebody_elses_id_number_gets_nothing() -> None:
    text = (
        MOODLE.replace("Status", "ID number").replace("Submitted for grading", "1234567", 2).replace("1234567", "x", 2)
    )
    text = text.replace('"Participant x"', '"Participant 1234567"')
    done = worksheet(result("1234567"), text=text)
    assert done.placed == 0 and "could all be meant" in done.remarks[0]


# ------------------------------------------------------------------ both from the command line


def test_points_go_from_a_gradebook_into_the_exported_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = Gradebook(tmp_path / "book")
    with book.lock():
        book.begin("seed")
        for one in (result("12345"), result("1234567"), result("67890", number=2)):
            book.put(one)
    (tmp_path / "canvas.csv").write_bytes(CANVAS.encode())
    (tmp_path / "moodle.csv").write_bytes(MOODLE.encode())
    common = [str(tmp_path / "book"), str(tmp_path / "canvas.csv"), "--lesson", "1", "--out", str(tmp_path / "new.csv")]
    assert cli.main(["export", "canvas", *common, "--assignment", "Lesson 1"]) == 0
    assert (tmp_path / "new.csv").read_bytes() == CANVAS.replace("jdoe,Spring,,", "jdoe,Spring,35,").encode()
    said = capsys.readouterr().out
    assert "1234567 is not in" in said and "points of 1 student; all else is as it was exported" in said
    common[1] = str(tmp_path / "moodle.csv")
    assert cli.main(["export", "moodle", *common, "--no-comments"]) == 0
    assert (tmp_path / "new.csv").read_text(encoding="utf-8").count(",35,") == 1
    assert cli.main(["export", "canvas", *common, "--assignment", "Lesson 1"]) == 1
    assert "no column has the name" in capsys.readouterr().err


# ------------------------------------------------------------------ Gradescope


def check_schema(data: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(data)))


@pytest.mark.parametrize("one", [result(), result(points=6), result(solved=6), UNREAD, NASTY])
def test_results_keep_gradescopes_published_format(one: Result) -> None:
    data = gradescope.results(one, lesson(1))
    check_schema(data)
    assert data["score"] == one.points == sum(test["score"] for test in data["tests"])
    assert sum(test["max_score"] for test in data["tests"]) == 100
    assert [test["status"] == "passed" for test in data["tests"]] == [
        one.lesson is not None and one.exercises[at].verdict.passed for at in range(6)
    ]


def test_the_schema_refuses_what_gradescope_does_not_know() -> None:
    data = gradescope.results(result(), lesson(1))
    for wrong in (
        {"tests": [{"name": "no score"}]},
        data | {"visibility": "always"},
        data | {"tests": [data["tests"][0] | {"output_format": "rtf"}]},
        data | {"points": 3},
    ):
        with pytest.raises(jsonschema.ValidationError):
            check_schema(wrong)


def test_a_test_says_what_the_learners_card_says_as_plain_text() -> None:
    data = gradescope.results(result(points=6), lesson(1))
    said = data["tests"][2]
    assert said["number"] == "1.3" and said["name"] == "parameter_gradients" and said["output_format"] == "text"
    assert "FAILED: exercise 1.3, parameter_gradients (6 of 20 points)" in said["output"]
    assert "The result carries a graph (carries-a-graph)." in said["output"]
    assert gradescope.results(UNREAD, lesson(1))["output"] == "This file is no notebook."


@pytest.fixture(scope="module")
def uploaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The autograder of lesson 1 of an own course, unpacked."""
    folder = tmp_path_factory.mktemp("gradescope")
    terms = choose_terms([1], {"1.1": 25, "1.2": 10}, "")
    data = gradescope.autograder(ROOT, 1, terms, "none", "the seed")
    assert data == gradescope.autograder(ROOT, 1, terms, "none", "the seed")
    adopt(None)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {info.filename for info in archive.infolist() if info.external_attr >> 16 & 0o111} == {
            "setup.sh",
            "run_autograder",
        }
        archive.extractall(folder)
    return folder


def test_the_autograder_has_its_scripts_at_the_root_and_the_course_beside_them(uploaded: Path) -> None:
    assert sorted(path.name for path in uploaded.iterdir()) == ["course", "run_autograder", "setup.sh"]
    for name in ("setup.sh", "run_autograder"):
        assert (uploaded / name).read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")
        subprocess.run(["bash", "-n", uploaded / name], check=True)
    needed = ("course_utils/checks/judge", "course_utils/grading", "pyproject.toml", "constraints.txt", "README.md")
    assert all((uploaded / "course" / name).exists() for name in needed)
    assert not list(uploaded.rglob("__pycache__")) and not (uploaded / "course" / "solutions").exists()


def handed_in(folder: Path, *solved: str, name: str = "handed in.ipynb", number: int = 1) -> Path:
    """A student's notebook with some exercises solved."""
    book = json.loads((ROOT / "notebooks" / f"{lesson(number).slug}.ipynb").read_text(encoding="utf-8"))
    for cell in book["cells"]:
        for identifier in solved:
            if cell["id"] == f"exercise-{identifier.replace('.', '-')}":
                cell["source"] = SOLUTIONS[identifier]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(book), encoding="utf-8")
    return folder / name


@pytest.mark.heavy
def test_the_unpacked_autograder_grades_a_submission_with_the_courses_own_points(
    uploaded: Path, tmp_path: Path
) -> None:
    handed_in(tmp_path / "submission", "1.1", "1.4")
    metadata = {"users": [{"email": "jane@example.org", "id": 1, "name": "Jane"}]}
    (tmp_path / "submission_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    # As on Gradescope, with this environment's Python and these folders in place of theirs.
    script = (uploaded / "run_autograder").read_text(encoding="utf-8")
    script = script.replace("/autograder/venv/bin/python", shlex.quote(sys.executable))
    script = script.replace("/autograder/source", str(uploaded)).replace("/autograder", str(tmp_path))
    script = f"{script.rstrip()} --metadata {tmp_path}/submission_metadata.json --out {tmp_path}/results/results.json\n"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    data = json.loads((tmp_path / "results" / "results.json").read_text(encoding="utf-8"))
    check_schema(data)
    assert data["score"] == 35, (data, done.stdout, done.stderr)
    assert [test["score"] for test in data["tests"]] == [25, 0, 0, 10, 0, 0]


class _NoGrader:
    """In place of a grader: one that cannot start, or that fails."""

    error: Exception = NoIsolation("install bubblewrap")

    def __init__(self, *_: object) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "said"),
    [(NoIsolation("install bubblewrap"), "cannot run it in isolation"), (RuntimeError("odd"), "the grader failed")],
)
def test_a_machine_that_cannot_grade_gives_an_answer_that_says_so(
    error: Exception, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    handed_in(tmp_path / "submission")
    monkeypatch.setattr(grading, "Grader", type("Grader", (_NoGrader,), {"error": error}))
    arguments = ["--lesson", "1", "--seed", "x", "--submission", str(tmp_path / "submission")]
    assert gradescope.main([*arguments, "--out", str(tmp_path / "results.json"), "--metadata", "none"]) == 0
    data = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    check_schema(data)
    assert data["score"] == 0 and said in data["output"] and str(error) not in data["output"]
    caught = capsys.readouterr()
    assert str(error) in caught.out + caught.err  # for the instructor


# ------------------------------------------------------------------ one student's folder


class _Grader:
    """In place of a grader: gives back what it was asked to grade."""

    def __init__(self, *_: object) -> None: ...

    def grade(self, submission: Submission, data: bytes) -> Result:
        return Result(submission.student, 1, str(len(data)), submission.label, name=submission.name)

    def __enter__(self) -> _Grader:
        return self

    def __exit__(self, *_: object) -> None: ...


def test_the_notebook_that_a_student_worked_in_is_graded_and_not_the_one_as_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "Grader", _Grader)
    worked = handed_in(tmp_path / "workbook", "1.1")
    handed_in(tmp_path / "notebooks")
    handed_in(tmp_path / "notebooks", "2.1", name="02.ipynb", number=2)
    found = grade_one(tmp_path, 1, "seed", "none", Student("jane", "Jane Doe"))
    assert found.digest == str(len(worked.read_bytes())) and (found.student, found.name) == ("jane", "Jane Doe")
    assert "workbook" in found.source


def test_a_folder_without_the_notebook_is_told_what_to_hand_in(tmp_path: Path) -> None:
    [note] = grade_one(tmp_path, 1, "seed", "none", Student("jane")).notes
    assert note.text == (
        "No notebook of lesson 1 was found. Hand in 01_what_gradients_are.ipynb, with the cells of the course in it."
    )
    handed_in(tmp_path, "2.1", name="02.ipynb", number=2)
    (tmp_path / "torn.ipynb").write_text("{", encoding="utf-8")
    [note] = grade_one(tmp_path, 1, "seed", "none", Student("jane")).notes
    assert "02.ipynb is lesson 2." in note.text and "torn.ipynb: " in note.text


# ------------------------------------------------------------------ GitHub Classroom


@pytest.fixture
def job() -> dict[str, Any]:
    terms = choose_terms([1], {"1.1": 25, "1.2": 10}, "it's a seed")
    found = yaml.safe_load(github.workflow(1, "somebody/course", terms))
    adopt(None)
    assert found["on"] == ["push", "workflow_dispatch"] and found["permissions"]["contents"] == "read"
    return dict(found["jobs"]["grade"])


def test_the_workflow_checks_out_both_and_reports_what_it_graded(job: dict[str, Any]) -> None:
    used = {step["uses"].partition("@")[0]: step for step in job["steps"] if "uses" in step}
    assert list(used) == [
        "actions/checkout",
        "actions/setup-python",
        "classroom-resources/autograding-grading-reporter",
    ]
    paths = {
        step["with"]["path"]: step["with"].get("repository") for step in job["steps"] if "path" in step.get("with", {})
    }
    assert paths == {"submission": None, "course": "somebody/course"}
    [grade] = [step for step in job["steps"] if step.get("id") == "grade"]
    reporter = used["classroom-resources/autograding-grading-reporter"]
    # The reporter reads RUNNER_RESULTS for each of its runners, in capitals.
    assert reporter["with"]["runners"] == grade["id"]
    assert reporter["env"] == {"GRADE_RESULTS": "${{ steps.grade.outputs.result }}"}


def test_every_command_of_the_workflow_exists(
    job: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = [shlex.split(line) for step in job["steps"] for line in step.get("run", "").splitlines()]
    commands = [command[1:] if command[0] == "sudo" else command for command in commands]
    assert {command[0] for command in commands} <= {"apt-get", "sysctl", "python"}
    modules = {command[2] for command in commands if command[:2] == ["python", "-m"]}
    assert modules == {"pip", "uv", "course_utils.grading.interop.github"}
    assert all("uninstall" in command or "-c" in command for command in commands if command[2:3] in (["pip"], ["uv"]))
    [arguments] = [command[3:] for command in commands if modules & {*command[2:3]} - {"pip", "uv"}]
    monkeypatch.setattr(github, "grade_one", lambda *_: result(points=6))
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        monkeypatch.setenv(name, str(tmp_path / name))
    assert github.main(arguments) == 0
    assert lesson(1).exercises[0].points == 25
    key, _, encoded = (tmp_path / "GITHUB_OUTPUT").read_text(encoding="utf-8").strip().partition("=")
    told = json.loads(base64.b64decode(encoded))
    assert key == "result" and told["status"] == "fail" and told["max_score"] == 100
    assert sum(test["score"] for test in told["tests"]) == 41


def test_a_students_text_is_neither_html_nor_a_command_on_github(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(github, "grade_one", lambda *_: NASTY)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    assert github.main(["--lesson", "1", "--submission", str(tmp_path)]) == 0
    page = (tmp_path / "summary").read_text(encoding="utf-8")
    assert "<script" not in page and "&lt;script" in page
    assert "::" not in capsys.readouterr().out


def test_a_workflow_needs_a_repository_and_a_lesson(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    out = ["--out", str(tmp_path / "classroom.yml")]
    assert cli.main(["export", "github-classroom", "--lesson", "1", *out, "--repository", "a b"]) == 1
    assert "write OWNER/NAME" in capsys.readouterr().err
    assert cli.main(["export", "github-classroom", "--lesson", "12", *out, "--repository", "a/b"]) == 1
    assert "there is no lesson 12" in capsys.readouterr().err
    assert cli.main(["export", "github-classroom", "--lesson", "2", *out, "--repository", "a/b"]) == 0
    assert "--lesson 2 --submission ../submission\n" in (tmp_path / "classroom.yml").read_text(encoding="utf-8")


# ------------------------------------------------------------------ course grade, with an own course


@pytest.mark.heavy
def test_course_grade_takes_lessons_and_points_from_a_release(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release(ROOT, tmp_path / "own", choose_terms([1], {"1.1": 25, "1.2": 10}, ""))
    book = tmp_path / "own" / "notebooks" / f"{lesson(1).slug}.ipynb"
    (tmp_path / "in" / "jane").mkdir(parents=True)
    shutil.copy(book, tmp_path / "in" / "jane" / "one.ipynb")
    text = json.loads(book.read_text(encoding="utf-8"))
    next(cell for cell in text["cells"] if cell["id"] == "exercise-1-1")["source"] = SOLUTIONS["1.1"]
    (tmp_path / "in" / "jane" / "one.ipynb").write_text(json.dumps(text), encoding="utf-8")
    handed_in(tmp_path / "in" / "ben", "2.1", number=2)
    command = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "book"), "--isolation", "none", "--jobs", "1"]
    assert cli.main([*command, "--course", str(tmp_path / "own")]) == 0
    [found] = Gradebook(tmp_path / "book").results()
    assert (found.student, found.points, found.max_points) == ("jane", 25, 100)
    [other] = Gradebook(tmp_path / "book").unread()
    assert other.student == "ben" and "not part of this course" in other.notes[-1].text
    assert cli.main([*command, "--course", str(tmp_path)]) == 1
    assert "no course of your own" in capsys.readouterr().err


# ------------------------------------------------------------------ nbgrader


WRONG = "def gradient_descent(f, x, lr, steps):\n    return x, []"


@pytest.fixture(scope="module")
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of nbgrader's: our solved notebook is the source, and Ben hands in our released one.

    Of three exercises one is solved, one wrong and one as it was: each notebook that nbgrader runs takes seconds.
    """
    folder = tmp_path_factory.mktemp("nbgrader")
    pairs = [f"{kind}-1-{number}" for number in (1, 4, 2) for kind in ("exercise", "check")]

    def cut(path: Path, **filled: str) -> str:
        book = json.loads(path.read_text(encoding="utf-8"))
        kept = []
        for cell in book["cells"]:
            if cell["id"] in ("setup", *pairs) or "import torch" in "".join(cell["source"]).splitlines():
                kept.append(cell | {"source": filled.get(cell["id"], cell["source"])})
                if cell["cell_type"] == "code":
                    kept[-1] |= {"outputs": [], "execution_count": None}
        return json.dumps(book | {"cells": kept})

    stem = lesson(1).slug
    release(ROOT, folder / "release-of-ours", Terms((1,)))
    ours = folder / "release-of-ours" / "notebooks" / f"{stem}.ipynb"
    for name, text in {
        "source/one/one.ipynb": cut(ROOT / "solutions" / f"{stem}.ipynb"),
        "submitted/ben/one/one.ipynb": cut(ours, **{"exercise-1-1": SOLUTIONS["1.1"], "exercise-1-4": WRONG}),
    }.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def as_nbgrader_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the answers on the kernel's path, and nbgrader's own helpers on this process's."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COURSE_HOME", str(folder / "record"))
    monkeypatch.chdir(folder)


@pytest.mark.heavy
def test_nbgrader_gives_the_points_that_our_verdicts_give(assignment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbgrader.api import Gradebook as Marks
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    config = Config()
    config.CourseDirectory.root = str(assignment)
    config.CourseDirectory.db_url = f"sqlite:///{assignment / 'gradebook.db'}"
    as_nbgrader_runs(assignment, monkeypatch)
    api = NbGraderAPI(config=config)
    assert api.generate_assignment("one")["success"]
    done = api.autograde("one", "ben")
    assert done["success"], done["log"]
    with Marks(config.CourseDirectory.db_url) as marks:
        submission = marks.find_submission("one", "ben")
        scores = {grade.name: grade.score for book in submission.notebooks for grade in book.grades}
        assert submission.max_score == 45
    names: dict[str, Any] = {}
    exec(f"import torch\n{SOLUTIONS['1.1']}\n{WRONG}", names)
    attempts = {1: names["numerical_gradient"], 4: names["gradient_descent"], 2: ...}
    verdicts = {f"check-1-{number}": evaluate(f"1.{number}", one) for number, one in attempts.items()}
    assert scores == {name: verdict.points for name, verdict in verdicts.items()}
    assert scores == {"check-1-1": 20, "check-1-4": 0, "check-1-2": 0}


@pytest.mark.heavy
def test_nbgrader_validate_names_what_fails_and_the_mistake(assignment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbgrader.validator import Validator

    as_nbgrader_runs(assignment, monkeypatch)
    validator = Validator()
    validator.stream = io.StringIO()
    validator.validate_and_print(str(assignment / "submitted" / "ben" / "one" / "one.ipynb"))
    said = validator.stream.getvalue()
    assert "VALIDATION FAILED ON 2 CELL(S)" in said
    assert 'check("1.4", gradient_descent)' in said and "CheckFailed: exercise 1.4: " in said
    verdict = evaluate("1.4", lambda f, x, lr, steps: (x, []))
    assert verdict.misconception is None or f"({verdict.misconception})" in said
    assert "CheckFailed: exercise 1.2: not attempted" in said and "1.1" not in said


def test_a_result_in_lines_says_points_mistakes_and_notes() -> None:
    said = lines(result(points=6))
    assert said[2] == "1.3 parameter_gradients: 6 of 20 points, failed: The result carries a graph (carries-a-graph)"
    assert lines(UNREAD) == ["This file is no notebook."]
