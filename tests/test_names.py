"""Names that strangers chose: safe to show, and each student has files of their own."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.grading.names import clean, file_stem, shown


def test_names_fit_to_be_shown() -> None:
    assert clean("  a\t\u202eb\x1b[31m\u2028c\x00 ") == "a b[31m c"
    assert clean("\ud800x") == "x" and clean("\n\u200b") == "" and shown("") == "?"
    assert len(shown("x" * 5000)) <= 200


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
