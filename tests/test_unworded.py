"""A cluster of wrong answers becomes a mistake whose words are left to write; nothing of it runs before that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import gradebooks as made
import pytest
from fixture_lesson import forget

from course_utils.authoring import verify
from course_utils.checks.judge import judge
from course_utils.grading.clusters import new_mistake
from course_utils.grading.fingerprint import fingerprint
from course_utils.grading.gradebook import Gradebook
from course_utils.grading.result import Marked, Result
from course_utils.learner import all_cases
from course_utils.lessons import exercise
from gradient_ledger.errors import UserError

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
    return verify._faults_of_one(root, "9.1", True)


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
