"""Whose notebook is where: layouts as tools make them, and files as nobody should make them."""

from __future__ import annotations

import io
import os
import struct
import sys
import time
import unicodedata
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from course_utils.grading import archives, submissions
from course_utils.grading.archives import Archive, Unreadable
from course_utils.grading.names import clean, shown
from course_utils.grading.result import Submission
from course_utils.grading.roster import Roster, read_roster
from course_utils.grading.submissions import Found, choose_latest, find_submissions, read
from gradient_ledger.errors import UserError

NB = b'{"nbformat": 4, "metadata": {"course": {"lesson": 3}}, "cells": []}'
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names and files that only Linux has")

Tree = Mapping[str, Any]
"""{name: bytes, or a Tree for a folder, or for a zip where the name ends in .zip}."""


def lay(folder: Path, tree: Tree) -> Path:
    """Put files, folders and zips on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in tree.items():
        if isinstance(content, bytes):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        elif name.endswith(".zip"):
            (folder / name).write_bytes(packed(content))
        else:
            lay(folder / name, content)
    return folder


def packed(tree: Tree) -> bytes:
    """A zip of files; a Tree in it is a zip, too."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in tree.items():
            archive.writestr(name, content if isinstance(content, bytes) else packed(content))
    return buffer.getvalue()


def whose(found: Found) -> dict[str, list[str]]:
    """{student: labels}, after every notebook could be read."""
    result: dict[str, list[str]] = {}
    for each in found.submissions:
        assert read(each) == NB, each
        result.setdefault(each.student, []).append(each.label)
    return result


def unreadable(found: Found) -> dict[str, str]:
    """{student: what reading the notebook says}, of those that cannot be read."""
    result = {}
    for each in found.submissions:
        try:
            read(each)
        except Unreadable as error:
            result[each.student] = str(error)
    return result


def students(found: Found) -> list[str]:
    return list(whose(found))


def warned(found: Found, *parts: str) -> bool:
    return any(all(part in line for part in parts) for line in found.warnings)


# ------------------------------------------------------------------ layouts


def test_a_folder_a_student(tmp_path: Path) -> None:
    lay(tmp_path, {"bob": {"work.ipynb": NB}, "alice": {"deep": {"er": {"x.ipynb": NB}}}, "carol": {"notes.txt": b"x"}})
    found = find_submissions(tmp_path)
    assert whose(found) == {"alice": ["alice/deep/er/x.ipynb"], "bob": ["bob/work.ipynb"]}
    assert warned(found, "no notebook", "carol")


def test_a_folder_a_student_with_one_folder_an_assignment(tmp_path: Path) -> None:
    for name in ("alice", "bob"):
        lay(tmp_path / name, {"zeroing": {"a.ipynb": NB}, "accumulating": {"b.ipynb": NB}})
    assert students(find_submissions(tmp_path)) == ["alice", "bob"]


def test_a_folder_a_lesson_with_folders_of_students(tmp_path: Path) -> None:
    for name in ("lesson 3", "04_zeroing_in_the_training_loop", "week7"):
        lay(tmp_path / name, {"alice": {"a.ipynb": NB}, "bob.ipynb": NB})
    found = find_submissions(tmp_path)
    assert students(found) == ["alice", "bob"]
    assert [each.lesson for each in found.submissions if each.student == "alice"].count(None) == 1
    assert {each.lesson for each in found.submissions} == {3, 4, None}


def test_a_folder_a_section_of_the_course(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {"monday": {"alice/a.ipynb": NB, "bob/b.ipynb": NB}, "friday": {"carol/c.ipynb": NB, "dan/d.ipynb": NB}},
    )
    lay(tmp_path, {"sunday": {"erin/e.ipynb": NB}})
    assert students(find_submissions(tmp_path)) == ["alice", "bob", "carol", "dan", "erin"]


def test_loose_notebooks_are_named_by_their_file_without_lesson_and_copy(tmp_path: Path) -> None:
    names = ["alice_03_zeroing_gradients", "bob-lesson3", "03_zeroing carol", "dan (2)", "erin_hw3-Copy1", "s07", "lee"]
    lay(tmp_path, {f"{name}.ipynb": NB for name in names})
    found = find_submissions(tmp_path)
    assert students(found) == ["alice", "bob", "carol", "dan", "erin", "lee", "s07"]
    assert [each.lesson for each in found.submissions][:3] == [3, 3, 3]
    assert warned(found, "copies", "dan (2)")


def test_what_names_nobody_is_said_and_kept(tmp_path: Path) -> None:
    found = find_submissions(lay(tmp_path, {"03_zeroing_gradients.ipynb": NB, "Untitled.ipynb": NB}))
    assert students(found) == ["03_zeroing_gradients", "Untitled"]
    assert warned(found, "Nothing says whose", "Untitled")


@pytest.mark.parametrize("name", ["alice.ipynb.json", "alice.ipynb.txt", "alice.IPYNB"])
def test_an_ending_that_a_browser_added_is_no_matter(tmp_path: Path, name: str) -> None:
    assert students(find_submissions(lay(tmp_path, {name: NB}))) == ["alice"]


def test_a_zip_a_student(tmp_path: Path) -> None:
    lay(tmp_path, {"alice.zip": {"work/03_zeroing_gradients.ipynb": NB}, "bob_lesson3.zip": {"x.ipynb": NB}})
    found = find_submissions(tmp_path)
    assert whose(found) == {
        "alice": ["alice.zip: work/03_zeroing_gradients.ipynb"],
        "bob": ["bob_lesson3.zip: x.ipynb"],
    }


@pytest.mark.parametrize("given", ["folder", "zip"])
@pytest.mark.parametrize(
    "tree",
    [
        {"alice/x.ipynb": NB, "bob/y.ipynb": NB},
        {"all/alice/x.ipynb": NB, "all/bob/y.ipynb": NB},
        {"alice.ipynb": NB, "bob.ipynb": NB},
        {"alice.zip": {"x.ipynb": NB}, "bob.zip": {"deep/y.ipynb": NB}},
    ],
    ids=["folders", "folders in one", "loose", "zips"],
)
def test_one_zip_of_all(tmp_path: Path, tree: Tree, given: str) -> None:
    lay(tmp_path, {"download of friday.zip": tree})
    folder = tmp_path if given == "folder" else tmp_path / "download of friday.zip"
    assert students(find_submissions(folder)) == ["alice", "bob"]


def test_one_zip_of_one_student_is_not_taken_for_one_of_all(tmp_path: Path) -> None:
    lay(tmp_path, {"alice.zip": {"03_zeroing_gradients.ipynb": NB, "04_zeroing_in_the_training_loop.ipynb": NB}})
    assert students(find_submissions(tmp_path)) == ["alice"]


def test_one_notebook_may_be_given_alone(tmp_path: Path) -> None:
    assert students(find_submissions(lay(tmp_path, {"alice.ipynb": NB}) / "alice.ipynb")) == ["alice"]


CANVAS = {
    "doejane_12345_678901_03_zeroing.ipynb": NB,
    "doejane_12345_678950_03_zeroing-1.ipynb": NB,
    "müllerjörg_LATE_12346_678902_Untitled.ipynb": NB,
    "anon_Ab3dE_678903_work.ipynb": NB,
    "roelee_12347_678904_all my work.zip": {"someoneelse_1_222_x.ipynb": NB},
    "poejo_12348_678905_report.pdf": b"%PDF",
    "woeann_12349_text.html": b"<p>",
}


@pytest.mark.parametrize("zipped", [False, True])
def test_a_download_of_canvas(tmp_path: Path, zipped: bool) -> None:
    lay(tmp_path, {"submissions.zip": CANVAS} if zipped else CANVAS)
    found = find_submissions(tmp_path)
    names = {each.student: each.name for each in found.submissions}
    assert names == {"12345": "doejane", "12346": "müllerjörg", "12347": "roelee", "anon_Ab3dE": ""}
    assert len(whose(found)["12345"]) == 2 and warned(found, "no notebook", "12348")
    first, second = [each for each in found.submissions if each.student == "12345"]
    assert (first.attempt, second.attempt) == (678901, 678950) and first.lesson == 3
    # A later upload counts, whatever the clock of the download says.
    os.utime(tmp_path / first.path, (2e9, 2e9))
    ((chosen, _),) = choose_latest([(each, 3) for each in (second, first)])
    assert chosen.attempt == 678950


def test_one_number_with_two_names_in_a_canvas_download_stays_two_students(tmp_path: Path) -> None:
    found = find_submissions(lay(tmp_path, {"doe_7_1000_a.ipynb": NB, "roe_7_1001_a.ipynb": NB}))
    assert students(found) == ["doe_7", "roe_7"] and warned(found, "kept apart")


def test_a_date_in_a_name_is_no_download_of_canvas(tmp_path: Path) -> None:
    assert students(find_submissions(lay(tmp_path, {"doe_2024_05_notes.ipynb": NB}))) == ["doe_2024_05_notes"]


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("folders", [False, True])
def test_a_download_of_moodle(tmp_path: Path, folders: bool, zipped: bool) -> None:
    mark = "_assignsubmission_file_" + ("/" if folders else "")
    tree = {
        f"Jane Doe_1234567{mark}03_zeroing.ipynb": NB,
        f"Jörg Müller-Lüdenscheidt_1234568{mark}x.ipynb": NB,
        f"Group A-Lee Roe_1234569{mark}work.zip": packed({"a/b.ipynb": NB}),
        f"Participant_1234570{mark}y.ipynb": NB,
        "Jo Poe_1234571_assignsubmission_onlinetext_/onlinetext.html": b"<p>",
    }
    lay(tmp_path, {"C1-Zeroing-99.zip": tree} if zipped else tree)
    found = find_submissions(tmp_path)
    assert {each.student: each.name for each in found.submissions} == {
        "1234567": "Jane Doe",
        "1234568": "Jörg Müller-Lüdenscheidt",
        "1234569": "Group A-Lee Roe",
        "1234570": "Participant",
    }
    assert students(found) == ["1234567", "1234568", "1234569", "1234570"]
    assert warned(found, "no notebook", "1234571", "typed into Moodle")


def test_moodle_numbers_one_person_anew_in_each_assignment(tmp_path: Path) -> None:
    for name, number in (("lesson 3", 1000), ("lesson 4", 2000)):
        lay(tmp_path / name, {f"Jane Doe_{number}_assignsubmission_file_/x.ipynb": NB})
    found = find_submissions(tmp_path)
    assert students(found) == ["1000", "2000"] and warned(found, "several of Moodle's numbers", "Jane Doe")
    known = listed(tmp_path, "Full name;Email address\nJane Doe;jane@uni.invalid\n")
    assert set(students(find_submissions(tmp_path, known))) == {"jane@uni.invalid"}


@pytest.mark.parametrize("start", ["", "submitted"])
def test_a_course_of_nbgrader(tmp_path: Path, start: str) -> None:
    lay(tmp_path, {"source/ps1/x.ipynb": NB, "autograded/bob/ps1/x.ipynb": NB, "gradebook.db": b"x"})
    lay(tmp_path, {"submitted/bob/ps1/x.ipynb": NB, "submitted/bob/gradients/x.ipynb": NB})
    lay(tmp_path, {"submitted/bob/ps1/timestamp.txt": b"2015-02-02 15:58:23.948203 UTC"})
    found = find_submissions(tmp_path / start)
    assert students(found) == ["bob"] and len(found.submissions) == 2
    by_folder = {Path(each.path).parent.name: each for each in found.submissions}
    assert by_folder["ps1"].when == pytest.approx(1422892703.948203)
    assert abs(by_folder["gradients"].when - time.time()) < 3600
    assert warned(found, "nbgrader", "source", "autograded") == (start == "")


def test_a_timestamp_that_is_none_leaves_the_files_own(tmp_path: Path) -> None:
    for number, text in enumerate((b"yesterday", b"9999-99-99 00:00:00 UTC", b"\xff", b"1" * 10_000)):
        lay(tmp_path / f"s{number}", {"a.ipynb": NB, "timestamp.txt": text})
    found = find_submissions(tmp_path)
    assert len(found.submissions) == 4 and all(abs(each.when - time.time()) < 3600 for each in found.submissions)


def test_a_clone_of_the_course_counts_by_its_workbook(tmp_path: Path) -> None:
    names = [f"{folder}/03_zeroing_gradients.ipynb" for folder in ("notebooks", "solutions", "workbook")]
    lay(
        tmp_path / "alice" / "gradient-ledger", dict.fromkeys([*names, "workbook/03_zeroing_gradients.old-1.ipynb"], NB)
    )
    lay(tmp_path / "bob" / "course", dict.fromkeys(names[:2], NB))
    found = find_submissions(tmp_path)
    assert whose(found) == {
        "alice": ["alice/gradient-ledger/workbook/03_zeroing_gradients.ipynb"],
        "bob": ["bob/course/notebooks/03_zeroing_gradients.ipynb"],
    }
    assert warned(found, "own copies and backups")


def test_the_order_is_fixed_and_nothing_is_written(tmp_path: Path) -> None:
    lay(tmp_path, {"b.zip": {"x/1.ipynb": NB, "x/2.ipynb": NB}, "a/9.ipynb": NB, "a/10.ipynb": NB, "C.ipynb": NB})
    before = sorted(tmp_path.rglob("*"))
    assert find_submissions(tmp_path) == find_submissions(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", Path("a\0b")):
        with pytest.raises(UserError, match="folder"):
            find_submissions(path)
    assert find_submissions(tmp_path) == Found(())


# ------------------------------------------------------------------ roster


def listed(folder: Path, data: str | bytes) -> Roster:
    """The roster in a file that holds `data`."""
    (folder / "r.csv").write_bytes(data.encode() if isinstance(data, str) else data)
    return read_roster(folder / "r.csv")


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


# ------------------------------------------------------------------ which one counts


def sub(path: str, student: str = "a", when: float = 0.0, **more: Any) -> Submission:
    return Submission(student, path, when=when, **more)


def test_the_later_of_two_counts_and_says_so() -> None:
    ((found, _),) = choose_latest([(sub("new.ipynb", when=2), 3), (sub("old.ipynb", when=1, notes=("n",)), 3)])
    assert found.path == "new.ipynb"
    assert found.notes == (
        "More than one notebook of lesson 3 was handed in; the later one counts: new.ipynb, not old.ipynb.",
    )


def test_notes_that_were_there_stay_and_one_alone_needs_none() -> None:
    ((found, _),) = choose_latest([(sub("x.ipynb", notes=("n",)), 3)])
    assert found.notes == ("n",)


def test_lessons_and_students_do_not_displace_each_other() -> None:
    given = [(sub("1", "b"), 4), (sub("2", "b"), 3), (sub("3", "a"), 3)]
    assert [each.path for each, _ in choose_latest(given)] == ["2", "1", "3"]


def test_equal_times_are_settled_by_name_and_said() -> None:
    for order in ((0, 1), (1, 0)):
        two = [(sub("a.ipynb"), 3), (sub("b.ipynb"), 3)]
        ((found, _),) = choose_latest([two[i] for i in order])
        assert found.path == "b.ipynb" and "cannot be told" in found.notes[0]


def test_what_cannot_be_read_displaces_nothing_and_is_not_lost() -> None:
    good, bad = sub("good.ipynb", when=1, lesson=3), sub("bad.ipynb", when=2, lesson=3)
    ((found, _),) = choose_latest([(good, 3), (bad, None)])
    assert found.path == "good.ipynb" and "not readable as a notebook: bad.ipynb" in found.notes[0]
    alone = choose_latest([(good, 3), (sub("other.ipynb"), None), (sub("b4.ipynb", lesson=4), None)])
    # The lesson that the layout tells of an unreadable file is no lesson that it could be graded as.
    assert {each.path: lesson for each, lesson in alone} == {"good.ipynb": 3, "other.ipynb": None, "b4.ipynb": None}
    assert [each.path for each, _ in choose_latest([(sub("1", when=1), None), (sub("2", when=2), None)])] == ["2"]


def test_a_hundred_submissions_of_one_student_make_a_short_note() -> None:
    ((found, _),) = choose_latest([(sub(f"{i:03}.ipynb", when=i), 3) for i in range(100)])
    assert "and 94 more" in found.notes[0] and len(found.notes[0]) < 300


# ------------------------------------------------------------------ hostile files


def test_clutter_is_nothing_that_anybody_handed_in(tmp_path: Path) -> None:
    clutter = {f"{name}/x.ipynb": NB for name in (".ipynb_checkpoints", "__MACOSX", ".git", "__pycache__")}
    clutter |= {"._x.ipynb": NB, "venv/pyvenv.cfg": b"", "venv/lib/x.ipynb": NB}
    lay(tmp_path, {"alice": clutter | {"a.ipynb": NB}, "bob.zip": {"b.ipynb": NB} | clutter})
    labels = whose(find_submissions(tmp_path))
    assert labels["alice"] == ["alice/a.ipynb"] and "bob.zip: b.ipynb" in labels["bob"]
    assert not any("checkpoints" in label or "._x" in label or "MACOSX" in label for label in labels["bob"])


@LINUX
def test_links_pipes_and_devices_are_left_alone(tmp_path: Path) -> None:
    secret = lay(tmp_path / "secret", {"s.ipynb": NB})
    lay(tmp_path / "in", {"alice": {"a.ipynb": NB}})
    (tmp_path / "in/alice/link.ipynb").symlink_to(secret / "s.ipynb")
    (tmp_path / "in/bob").symlink_to(secret)
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")
    (tmp_path / "in/all.zip").symlink_to(secret / "s.ipynb")
    os.mkfifo(tmp_path / "in/alice/pipe.ipynb")
    os.mkfifo(tmp_path / "in/pipe.zip")
    found = find_submissions(tmp_path / "in")
    assert whose(found) == {"alice": ["alice/a.ipynb"]}
    assert warned(found, "symbolic links", "bob") and warned(found, "no regular files", "pipe.zip")
    # They may have taken a file's place since.
    for name in ("alice/link.ipynb", "alice/pipe.ipynb", "bob", "alice", "gone.ipynb", "a\0b"):
        with pytest.raises(Unreadable, match="Hand in the notebook itself"):
            read(Submission("x", name, root=str(tmp_path / "in")))
        with pytest.raises(Unreadable):
            read(Submission("x", name, "x.ipynb", root=str(tmp_path / "in")))
    with pytest.raises(Unreadable):
        read(Submission("x", "/dev/zero"))


@LINUX
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_said(tmp_path: Path) -> None:
    lay(tmp_path, {"alice": {"a.ipynb": NB}, "bob": {"b.ipynb": NB}})
    (tmp_path / "alice").chmod(0)
    found = find_submissions(tmp_path)
    (tmp_path / "alice").chmod(0o755)
    assert students(found) == ["bob"] and warned(found, "Permission denied", "alice")


@LINUX
def test_names_that_are_no_utf8_and_names_that_look_alike_stay_apart(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    composed, split = unicodedata.normalize("NFC", "José"), unicodedata.normalize("NFD", "José")
    names = [b"M\xfcller", composed.encode(), split.encode(), b"alice", "ali\u200bce".encode(), b"ali\nce", b"Alice"]
    for name in names:
        os.mkdir(root + b"/" + name)
        (tmp_path / os.fsdecode(name) / "x.ipynb").write_bytes(NB)
    found = find_submissions(tmp_path)
    called = students(found)
    assert len(set(called)) == len(names) and {"Müller", "José", "alice", "Alice", "ali ce"} < set(called)
    for each in found.submissions:
        (each.student + each.label).encode("utf-8")
        assert (each.student + each.label).isprintable()
    assert warned(found, "alike") and warned(found, "capitals alone", "Alice")


def test_long_names_are_cut_and_stay_apart(tmp_path: Path) -> None:
    lay(tmp_path, {f"{'n' * 200}{end}": {"x.ipynb": NB} for end in "ab"})
    called = students(find_submissions(tmp_path))
    assert len(called) == 2 and all(len(name) <= 100 for name in called)


def test_names_fit_to_be_shown() -> None:
    assert clean("  a\t\u202eb\x1b[31m\u2028c\x00 ") == "a b[31m c"
    assert clean("\ud800x") == "x" and clean("\n\u200b") == "" and shown("") == "?"
    assert len(shown("x" * 5000)) <= 200


def test_members_that_lead_out_of_their_archive_are_left_out(tmp_path: Path) -> None:
    evil = ["../../bob/x.ipynb", "/etc/x.ipynb", "a/../../x.ipynb", "..\\..\\x.ipynb", "C:\\x.ipynb", "C:x.ipynb", ".."]
    lay(tmp_path, {"in": {"alice.zip": dict.fromkeys([*evil, "ok\\a.ipynb", "./b.ipynb"], NB)}})
    found = find_submissions(tmp_path / "in")
    assert students(found) == ["alice"] and len(found.submissions) == 2
    assert warned(found, "leads out of its archive")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["alice.zip", "in"]


def test_links_and_pipes_in_a_zip_are_left_out(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, mode in (("link.ipynb", 0o120777), ("pipe.ipynb", 0o010644), ("a.ipynb", 0o100644)):
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, NB if name == "a.ipynb" else b"/etc/passwd")
    found = find_submissions(lay(tmp_path, {"alice.zip": {}, "bob.zip": {}} | {"alice.zip": buffer.getvalue()}))
    assert whose(found) == {"alice": ["alice.zip: a.ipynb"]}
    assert warned(found, "a symbolic link", "link.ipynb") and warned(found, "a device or a pipe", "pipe.ipynb")


def test_two_members_of_one_name_are_one_and_other_capitals_are_another(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(buffer, "w") as archive:
        for name, content in (("a.ipynb", b"old"), ("a.ipynb", NB), ("A.ipynb", NB)):
            archive.writestr(name, content)
    found = find_submissions(lay(tmp_path, {"alice.zip": buffer.getvalue(), "b.ipynb": NB}))
    assert whose(found)["alice"] == ["alice.zip: A.ipynb", "alice.zip: a.ipynb"]


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    zeros = b"0" * (30 * 2**20)
    lay(tmp_path, {"alice.zip": {"a.ipynb": zeros, "b.ipynb": zeros[: 15 * 2**20], "c.ipynb": zeros[: 2**20]}})
    said = {}
    for each in find_submissions(tmp_path).submissions:
        try:
            said[each.member] = str(len(read(each)))
        except Unreadable as error:
            said[each.member] = str(error)
    assert "more than 20 MB" in said["a.ipynb"] and "250 times its size" in said["b.ipynb"]
    assert said["c.ipynb"] == str(2**20)


def test_a_member_that_lies_about_its_size_gives_no_more_than_the_limit() -> None:
    data = bytearray(packed({"a.ipynb": b"0" * 3_000_000}))
    for sign, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(sign) + at
        data[place : place + 4] = struct.pack("<I", 10)
    with pytest.raises(Unreadable):
        Archive(io.BytesIO(bytes(data))).read("a.ipynb", 1000)


def test_overlapping_members_are_refused() -> None:
    data = packed({"a.ipynb": NB, "b.ipynb": NB})
    first = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", first + 1)
    overlapping = bytearray(data)
    overlapping[second + 42 : second + 46] = struct.pack("<I", 0)
    with pytest.raises(Unreadable, match="overlap"):
        Archive(io.BytesIO(bytes(overlapping)))


def test_too_many_members_are_refused_before_they_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    eleven, five = _many(11), _many(5)
    monkeypatch.setattr(archives, "MAX_MEMBERS", 10)
    monkeypatch.setattr(zipfile, "ZipFile", lambda *given: pytest.fail("the list was read"))
    with pytest.raises(Unreadable, match="more than 10 files"):
        Archive(io.BytesIO(eleven))
    monkeypatch.setattr(archives, "MAX_DIRECTORY", 100)
    with pytest.raises(Unreadable, match="files"):
        Archive(io.BytesIO(five))


def _many(number: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for i in range(number):
            archive.writestr(f"{i}.ipynb", b"x")
    return buffer.getvalue()


@pytest.mark.parametrize("how", ["cut", "text", "empty", "flipped", "zeroed"])
def test_a_broken_zip_is_said_and_stops_nothing(tmp_path: Path, how: str) -> None:
    good = packed({"a.ipynb": NB * 50})
    data = {
        "cut": good[: len(good) // 2],
        "text": b"no zip",
        "empty": b"",
        "flipped": good[:40] + b"\xff\xff\xff" + good[43:],
        "zeroed": good[:-60] + b"\0" * 60,
    }[how]
    found = find_submissions(lay(tmp_path, {"alice.zip": data, "bob.ipynb": NB}))
    assert [each.student for each in found.submissions] == ["alice", "bob"]
    assert unreadable(found).keys() == {"alice"} and "damaged" in unreadable(found)["alice"]
    if how != "flipped":  # its list is whole, its content is not
        assert [each.label for each in found.submissions] == ["alice.zip", "bob.ipynb"]
        assert warned(found, "Zips that cannot be read", "alice.zip")


def test_one_broken_zip_of_all_is_nobodys_and_is_refused(tmp_path: Path) -> None:
    lay(tmp_path, {"download.zip": b"cut off"})
    with pytest.raises(UserError, match="download.zip cannot be opened: .*damaged.*; get it once more"):
        find_submissions(tmp_path / "download.zip")


def test_a_member_without_a_name_is_left_out() -> None:
    data = packed({"a.ipynb": b"", "@": b""}).replace(b"@", b"\0")
    faults = {member.name: member.fault for member in Archive(io.BytesIO(data)).members()}
    assert faults["a.ipynb"] == "" and "leads out" in faults[""]


def test_zips_of_other_kinds_are_said(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.ipynb", NB)
    locked = bytearray(packed({"a.ipynb": NB}))
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(sign) + at] |= 1
    lay(tmp_path, {"alice.zip": buffer.getvalue(), "bob.zip": bytes(locked), "carol": {"work.tar.gz": b"x"}})
    found = find_submissions(tmp_path)
    why = unreadable(found)
    assert "packed in an unusual way" in why["alice"] and "locked with a password" in why["bob"] and len(why) == 2
    assert (
        warned(found, "unusual way", "alice") and warned(found, "password", "bob") and warned(found, "no zip", "carol")
    )


def test_a_zip_in_a_zip_is_opened_and_one_more_is_not(tmp_path: Path) -> None:
    third = packed({"c.ipynb": NB})
    lay(tmp_path, {"in": {"alice.zip": {"a.zip": {"b.ipynb": NB, "c.zip": third}, "bad.zip": b"x"}, "bob.ipynb": NB}})
    found = find_submissions(tmp_path / "in")
    labels = [each.label for each in found.submissions]
    assert labels == ["alice.zip: a.zip: b.ipynb", "alice.zip: bad.zip", "bob.ipynb"]
    assert "damaged" in unreadable(found)["alice"]
    assert warned(found, "zips in a zip in a zip", "c.zip") and warned(found, "cannot be read", "bad.zip")


def test_a_large_nested_zip_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MAX_NESTED", 1000)
    lay(tmp_path, {"alice.zip": {"big.zip": packed({f"{i}.ipynb": NB for i in range(50)})}, "bob.ipynb": NB})
    found = find_submissions(tmp_path)
    assert [each.student for each in found.submissions] == ["alice", "bob"] and len(unreadable(found)) == 1
    assert warned(found, "cannot be read", "big.zip")


def test_names_in_a_zip_are_utf8_even_where_it_does_not_say_so(tmp_path: Path) -> None:
    data = packed({"J\u00f6rg/x.ipynb": NB, "bob/x.ipynb": NB})
    unmarked = bytearray(data)
    at = -1
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(sign)
        unmarked[at + flags : at + flags + 2] = b"\0\0"
    assert students(find_submissions(lay(tmp_path, {"all.zip": bytes(unmarked)}))) == ["Jörg", "bob"]


def test_a_large_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ipynb"
    with path.open("wb") as file:
        file.truncate(21 * 2**20)
    with pytest.raises(Unreadable, match="more than 20 MB"):
        read(find_submissions(tmp_path).submissions[0])


def test_folders_too_deep_and_notebooks_too_many_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, {"alice": {"/".join("d" * 40) + "/x.ipynb": NB}, "bob.zip": {"d/" * 40 + "x.ipynb": NB}})
    monkeypatch.setattr(submissions, "MAX_PER_STUDENT", 3)
    lay(tmp_path, {"carol.zip": {f"{i}.ipynb": NB for i in range(8)}, "dan.ipynb": NB})
    found = find_submissions(tmp_path)
    assert whose(found)["carol"] == [f"carol.zip: {i}.ipynb" for i in (5, 6, 7)]
    assert warned(found, "too many folders", "alice") and warned(found, "too long a name", "bob")
    assert warned(found, "More than 3 notebooks", "carol")


def test_many_students_are_found_with_work_that_grows_no_faster_than_they(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    real = archives.Archive
    monkeypatch.setattr(archives, "Archive", lambda file: opened.append(1) or real(file))
    lay(tmp_path, {"all.zip": {f"s{i}/x.ipynb": NB for i in range(3000)}})
    known = listed(tmp_path, "id\n" + "".join(f"s{i}\n" for i in range(0, 6000, 2)))
    found = find_submissions(tmp_path / "all.zip", known)
    assert len(whose(found)) == 3000
    assert len(opened) == 1, "the list of members was read again"
    assert all(len(line) < 1000 for line in found.warnings) and warned(found, "Not in the roster", "and 1,495 more")
