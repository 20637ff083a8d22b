"""Whose notebook is where: layouts as tools make them, and which of several counts."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from handed_in import NB, Tree, lay, listed, packed, students, warned, whose

from course_utils.grading.result import Submission
from course_utils.grading.submissions import Found, choose_latest, find_submissions
from gradient_ledger.errors import UserError


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
