"""What a stranger's file is read as: which cells, of which lesson, and what is said where it is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from course_utils.grading import notebook
from course_utils.grading.notebook import Notebook, Unreadable, read_notebook
from course_utils.learner import solution_code
from course_utils.lessons import Terms, adopt, lessons
from course_utils.lessons.published import cell_digest, normal, published_cells

ROOT = Path(__file__).resolve().parent.parent
THIRD = next(lesson for lesson in lessons() if lesson.number == 3)


def shipped(number: int, folder: str = "notebooks") -> dict[str, Any]:
    lesson = next(lesson for lesson in lessons() if lesson.number == number)
    found: dict[str, Any] = json.loads((ROOT / folder / f"{lesson.slug}.ipynb").read_bytes())
    return found


def code(*sources: Any, lesson: int | None = 3, **more: Any) -> dict[str, Any]:
    cells = [{"cell_type": "code", "metadata": {}, "source": text, "outputs": []} for text in sources]
    return {"nbformat": 4, "metadata": {"course": {"lesson": lesson}} if lesson else {}, "cells": cells} | more


def read(tree: Any) -> Notebook:
    return read_notebook(json.dumps(tree).encode())


def refused(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        read_notebook(data)
    text = str(caught.value)
    assert text.endswith(".") and "\n" not in text and len(text) < 300, text
    return text


# ------------------------------------------------------------------ cells


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.slug)
def test_every_cell_of_a_shipped_notebook_is_published_and_the_solved_exercises_are_not(lesson: Any) -> None:
    plain = read(shipped(lesson.number))
    assert plain.lesson == lesson.number and not plain.notes
    assert all(cell.published for cell in plain.cells)
    solved = read(shipped(lesson.number, "solutions"))
    changed = [cell.source for cell in solved.cells if not cell.published]
    assert len(changed) == len(lesson.exercises) and all("BEGIN SOLUTION" in text for text in changed)


def test_code_cells_are_numbered_from_one_and_other_cells_are_not_counted() -> None:
    tree = code("a = 1", ["b = 2\n", "c = 3"])
    tree["cells"].insert(1, {"cell_type": "markdown", "source": "text"})
    assert [(cell.number, cell.source) for cell in read(tree).cells] == [(1, "a = 1"), (2, "b = 2\nc = 3")]


def test_line_ends_and_white_space_at_them_do_not_make_a_cell_the_learners() -> None:
    cell = next(cell for cell in shipped(3)["cells"] if cell.get("id") == "exercise-3-1")
    text = "".join(cell["source"])
    for same in (text.replace("\n", "\r\n"), text.replace("\n", "  \n"), text + "\n\n", text.split("\n")):
        lines = [line + "\n" for line in same] if isinstance(same, list) else same
        assert read(code(lines)).cells[0].published
    for other in (text.replace("    ", "     ", 1), text + "\npass", text.lstrip("d")):
        assert not read(code(other)).cells[0].published


def test_a_cell_of_another_lesson_is_the_learners_here() -> None:
    first = next(text for text in _sources(1) if cell_digest(text) not in published_cells()[3])
    assert read(code(first, lesson=1)).cells[0].published
    assert not read(code(first, lesson=3)).cells[0].published


def test_missing_and_odd_parts_of_a_cell_are_left_out_and_said() -> None:
    tree = code("a = 1", ["b = ", 2, "3"], {"not": "text"})
    tree["cells"] += ["no cell", {"source": "c = 4", "outputs": []}, {"cell_type": "code"}, {"cell_type": 5}]
    found = read(tree)
    assert [cell.source for cell in found.cells] == ["a = 1", "b = 3", "", "c = 4", ""]
    texts = [note.text for note in found.notes]
    assert len(texts) == len(set(texts)) == 3 and all(note.kind == "file" for note in found.notes)


def test_ids_may_be_missing_or_stand_twice() -> None:
    tree = shipped(3)
    cells = len(read(tree).cells)
    for cell in tree["cells"]:
        cell["id"] = "same"
    assert len(read(tree).cells) == cells
    for cell in tree["cells"]:
        del cell["id"], cell["metadata"]
    assert len(read(tree).cells) == cells


def test_half_a_surrogate_pair_becomes_a_letter_that_can_be_written() -> None:
    (cell,) = read_notebook(json.dumps(code("SOURCE")).replace("SOURCE", r"x = '\ud800'").encode()).cells
    assert cell.source.encode("utf-8").decode() == "x = '\ufffd'"


# ------------------------------------------------------------------ lesson


def _sources(number: int) -> list[str]:
    return ["".join(cell["source"]) for cell in shipped(number)["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.slug)
def test_a_lesson_is_known_without_metadata_ids_or_text(lesson: Any) -> None:
    assert read(code(*_sources(lesson.number), lesson=None)).lesson == lesson.number


@pytest.mark.parametrize(
    "cell",
    [
        {"cell_type": "code", "source": "x = 1", "id": "exercise-3-2"},
        {"cell_type": "code", "source": "x = 1", "metadata": {"nbgrader": {"grade_id": "check-3-1"}}},
        {"cell_type": "code", "source": f'check("3.1", {THIRD.exercises[0].name})'},
        {"cell_type": "code", "source": f"def {THIRD.exercises[0].name}(*args):\n    return 1"},
        {"cell_type": "markdown", "source": f"# Lesson 3: {THIRD.title}"},
        {"cell_type": "markdown", "source": "### Exercise 3.1: whatever"},
    ],
    ids=["id", "nbgrader", "check", "function", "title", "banner"],
)
def test_one_sign_of_a_lesson_is_enough(cell: dict[str, Any]) -> None:
    assert read({"nbformat": 4, "cells": [cell]}).lesson == 3


def test_the_notebooks_own_word_counts_against_a_stray_cell_but_not_against_all_cells() -> None:
    assert read(code(*_sources(4)[5:7], lesson=3)).lesson == 3
    found = read(code(*_sources(4), lesson=3))
    assert found.lesson == 4 and "says that it is of lesson 3" in found.notes[0].text


def test_a_notebook_of_two_lessons_is_graded_as_the_one_it_has_more_of_and_says_so() -> None:
    found = read(code(*_sources(4), *_sources(3)[:60], lesson=None))
    assert found.lesson == 4
    assert "cells of lesson 4 and of lesson 3" in found.notes[0].text


@pytest.mark.parametrize("said", [99, 0, -1, True, 3.0, None, "x", [3], {}])
def test_what_is_no_lesson_in_the_metadata_is_no_lesson(said: object) -> None:
    tree = code("x = 1") | {"metadata": {"course": {"lesson": said}}}
    assert "no lesson of the course" in refused(json.dumps(tree).encode())


@pytest.mark.parametrize("metadata", [True, False])
def test_a_lesson_that_a_course_leaves_out_is_not_taken_for_one_that_it_has(metadata: bool) -> None:
    first = shipped(1)  # which defines `train`, as exercise 4.2 of that name does
    if not metadata:
        first["metadata"] = {}
        for cell in first["cells"]:
            del cell["id"]
    adopt(Terms((2, 4)))
    try:
        assert "lesson 1, which is not part of this course" in refused(json.dumps(first).encode())
    finally:
        adopt(None)
    assert read(first).lesson == 1


def test_an_empty_notebook_of_a_lesson_is_a_notebook() -> None:
    assert read(code(lesson=3)) == Notebook(3, ())


# ------------------------------------------------------------------ formats and encodings


def test_format_three_is_read() -> None:
    cells = [{"cell_type": "code", "input": ["a = 1\n", "b"], "outputs": []}, {"cell_type": "heading", "source": "x"}]
    tree = {"nbformat": 3, "metadata": {"course": {"lesson": 3}}, "worksheets": [{"cells": cells}, {"cells": cells}]}
    found = read(tree)
    assert [cell.source for cell in found.cells] == ["a = 1\nb"] * 2
    assert "old format" in found.notes[0].text


def test_another_format_number_is_said_and_read() -> None:
    assert "not in nbformat 4" in read(code("a", nbformat=5)).notes[0].text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_are_read(encoding: str) -> None:
    text = json.dumps(code("name = 'Zoë'"), ensure_ascii=False)
    found = read_notebook(text.encode(encoding))
    assert found.cells[0].source == "name = 'Zoë'"
    assert bool(found.notes) == (encoding != "utf-8-sig")


def test_latin_1_is_tried_and_said() -> None:
    found = read_notebook(json.dumps(code("name = 'Zoë'"), ensure_ascii=False).encode("latin-1"))
    assert found.cells[0].source == "name = 'Zoë'" and "Latin-1" in found.notes[0].text


# ------------------------------------------------------------------ what is no notebook


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b" \n ", "empty"),
        (b"\x00" * 2000, "no notebook"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"%PDF-1.7", "PDF"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "Git LFS"),
        (b'{"cells": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> b\n]}', "unsettled merge"),
        (b'{"cells": [{"cell_type": "co', "incomplete"),
        (b'{"cells": [}', "damaged in line 1"),
        (b"print('hello')", "no notebook"),
        (b"[]", "no notebook"),
        (b"3", "no notebook"),
        (b"{}", "no cells"),
        (b'{"cells": {}}', "no cells"),
        (b'{"nbformat": 2, "worksheets": 5}', "no cells"),
        (b'{"nbformat": 4, "cells": []}', "no lesson"),
        (b"[" * 200_000 + b"]" * 200_000, "nested too deep"),
        (b'{"cells":' * 50_000, "nested too deep"),
        (b'{"cells": [' + b"[]," * 1_000_001 + b"[]]}", "too many parts"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_notebook_is_refused_in_words_for_a_student(data: bytes, said: str) -> None:
    assert said in refused(data)


def test_too_large_too_many_cells_and_too_much_code_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "10,000 cells" in refused(json.dumps(code(*["x"] * 10_000)).encode())
    monkeypatch.setattr(notebook, "MAX_CODE", 1000)
    assert "characters of code" in refused(json.dumps(code("x" * 600, "y" * 600)).encode())
    monkeypatch.setattr(notebook, "MAX_NOTEBOOK", 2**20)
    assert "more than 1 MB" in refused(b"{" + b" " * 2**20)


def test_a_number_of_a_million_digits_costs_nothing() -> None:
    text = json.dumps(code("a", more=7)).replace("7", "9" * 1_000_000)
    assert read_notebook(text.encode()).cells[0].source == "a"


# ------------------------------------------------------------------ cells.json


def test_cells_json_holds_the_student_notebooks_and_nothing_else() -> None:
    for lesson in lessons():
        assert {cell_digest(text) for text in _sources(lesson.number)} == published_cells()[lesson.number]
    text = (ROOT / "course_utils" / "lessons" / "cells.json").read_text(encoding="utf-8")
    assert all(len(digest) == 32 and int(digest, 16) >= 0 for own in json.loads(text).values() for digest in own)
    known = frozenset().union(*published_cells().values())
    for lesson in lessons():
        answers = {cell_digest(solution_code(exercise.id)) for exercise in lesson.exercises}
        solved = shipped(lesson.number, "solutions")["cells"]
        answers |= {cell_digest("".join(c["source"])) for c in solved if "BEGIN SOLUTION" in "".join(c["source"])}
        assert len(answers) == 2 * len(lesson.exercises) and not answers & known


def test_normal_code_keeps_its_indentation_and_inner_empty_lines() -> None:
    assert normal("\n  a \r\n\r\n\tb\t\n\n") == "  a\n\n\tb"
