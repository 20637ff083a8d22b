"""The roster, whichever program wrote it, and whose files are whose by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from handed_in import NB, lay, listed, students, warned

from course_utils.grading.roster import read_roster
from course_utils.grading.submissions import find_submissions
from gradient_ledger.errors import UserError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,name\nA1,Jane Doe\n", ("A1", "Jane Doe")),
        ("Name;E-Mail;Matriculation number\nDoe, Jane;j@x.invalid;777\n", ("777", "Jane Doe")),
        ("first_name\tlast_name\temail\nJane\tDoe\tjd@x.invalid\n", ("jd@x.invalid", "Jane Doe")),
        ("sep=;\nlogin;x\njdoe;1\n", ("jdoe", "")),
        ("identifier,github_username,github_id,name\n,octo,5,Jane\n", ("octo", "Jane")),
        ("Identifier,Full name,Email address\nParticipant 4711,Jane Doe,j@x.invalid\n", ("4711", "Jane Doe")),
        (
            "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n" + '"Doe, Jane",12345,s1,jdoe,A\n',
            ("12345", "Jane Doe"),
        ),
        ("First Name,Last Name,SID,Email\nJane,Doe,99,j@x.invalid\n", ("99", "Jane Doe")),
        ("\n\nname\nJane Doe\n\n", ("Jane Doe", "Jane Doe")),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_roster_is_read_by_the_names_of_its_columns(
    tmp_path: Path, text: str, expected: tuple[str, str], encoding: str
) -> None:
    (student,) = listed(tmp_path, text.encode(encoding)).students
    assert (student.id, student.name) == expected


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "it has nothing"),
        (b"colour,size\nred,5\n", "it has colour, size; call one id, login, email or name"),
        (b"id\n", "has no student"),
        (b"id,name\n1,a\n2,b\n1,c\n", "names 1 in row 2 and in row 4"),
        (b"\xef\xbb\xbflogin;name\r\nada;a\r\nADA;b\r\n", "names ADA in row 2 and in row 3: leave one of them"),
        (b"id\n\x00\xff\xfe" + b'"' * 200_000, "roster"),
    ],
)
def test_a_roster_that_is_none_is_refused_with_the_reason(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(UserError) as caught:
        listed(tmp_path, data)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_roster_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "r.csv", tmp_path):
        with pytest.raises(UserError, match="is not there, or is no file: give a CSV file"):
            read_roster(path)


ROSTER = "ID,SIS Login ID,Email,Name\n12345,jdoe,jane.doe@x.invalid,Jane Doe\n12346,rroe,r@x.invalid,Rosé Roe\n"


@pytest.mark.parametrize(
    "name",
    [
        "12345.ipynb",
        "JDOE_lesson3.ipynb",
        "hw3-jdoe.ipynb",
        "jane.doe@x.invalid.ipynb",
        "jane.doe/x.ipynb",
        "Jane Doe/x.ipynb",
        "Doe, Jane/x.ipynb",
        "doejane/x.ipynb",
        "JaneDoe_final.ipynb",
        "gradient-ledger-jdoe/workbook/x.ipynb",
        "doejane_12345_678901_x.ipynb",
        "Jane Doe_999_assignsubmission_file_/x.ipynb",
        "monday/jdoe/x.ipynb",
    ],
)
def test_a_roster_knows_a_student_by_any_of_its_columns(tmp_path: Path, name: str) -> None:
    (found,) = find_submissions(lay(tmp_path / "in", {name: NB}), listed(tmp_path, ROSTER)).submissions
    assert (found.student, found.name) == ("12345", "Jane Doe")


def test_those_outside_the_roster_and_those_who_handed_in_nothing_are_said(tmp_path: Path) -> None:
    known = listed(tmp_path, ROSTER)
    found = find_submissions(lay(tmp_path / "in", {"jdoe.ipynb": NB, "mallory.ipynb": NB}), known)
    assert students(found) == ["12345", "mallory"]
    assert warned(found, "Not in the roster", "mallory") and warned(found, "no notebook was found", "12346")


def test_a_name_that_two_students_share_names_neither(tmp_path: Path) -> None:
    known = listed(tmp_path, "id,name\n1001,Jane Doe\n1002,Jane Doe\n")
    found = find_submissions(lay(tmp_path / "in", {"Jane Doe/x.ipynb": NB, "1002/x.ipynb": NB}), known)
    assert students(found) == ["1002", "Jane Doe"] and warned(found, "Not in the roster", "Jane Doe")


def test_what_a_student_packs_never_says_who_they_are(tmp_path: Path) -> None:
    known = listed(tmp_path, ROSTER + "12347,mallory,m@x.invalid,Mallory Moe\n")
    inside = {
        "rroe/x.ipynb": NB,
        "rroe.ipynb": NB,
        "roerose_12346_678901_x.ipynb": NB,
        "Rosé Roe_1_assignsubmission_file_/x.ipynb": NB,
        "submitted/rroe/ps1/x.ipynb": NB,
        "submitted/rroe/ps1/timestamp.txt": b"2999-01-01 00:00:00 UTC",
        "lesson 3/rroe/x.ipynb": NB,
    }
    lay(tmp_path / "in", {"mallory.zip": inside, "jdoe.zip": {"x.ipynb": NB}, "outsider": inside, "rroe/a.ipynb": NB})
    for given in (known, None):
        found = find_submissions(tmp_path / "in", given)
        owner = {each.path.split("/")[0].split(".")[0]: each.student for each in found.submissions}
        assert len({*owner.values()}) == 4, owner
        assert [each.path for each in found.submissions if each.student == owner["rroe"]] == ["rroe/a.ipynb"]
