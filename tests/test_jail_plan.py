"""Which cells run: a learner's own always, the course's where they define what these use."""

from __future__ import annotations

import pytest

from course_utils.grading.jail.kernel import plain_python
from course_utils.grading.jail.plan import chosen, definition, names_of


def _run(*cells: tuple[str, bool], wanted: tuple[str, ...] = ()) -> list[int]:
    """The places, from 0, of the cells that run."""
    return [place for place, runs in enumerate(chosen(cells, wanted)) if runs]


OURS, THEIRS = True, False


def test_a_learners_cell_runs_even_if_nothing_uses_it() -> None:
    assert _run(("a = 1", OURS), ("print('hello')", THEIRS), ("b = 2", OURS)) == [1]


def test_a_cell_of_the_course_runs_where_it_defines_what_a_learner_uses_and_so_on() -> None:
    cells = [
        ("import torch", OURS),
        ("half = torch.half", OURS),
        ("x = 1", OURS),
        ("def f():\n    return half", THEIRS),
    ]
    assert _run(*cells) == [0, 1, 3]


def test_only_the_last_definition_before_a_use_runs() -> None:
    assert _run(("model = 1", OURS), ("model = 2", OURS), ("print(model)", THEIRS), ("model = 3", OURS)) == [1, 2]


def test_a_definition_that_may_not_happen_hides_none_before_it() -> None:
    assert _run(("x = 1", OURS), ("if True:\n    x = 2", OURS), ("print(x)", THEIRS)) == [0, 1, 2]


def test_what_a_function_reads_may_be_defined_after_it() -> None:
    assert _run(("def f():\n    return late", THEIRS), ("late = 1", OURS)) == [0, 1]


def test_arguments_and_local_names_of_a_function_ask_for_nothing() -> None:
    cell = "def f(model, x):\n    loss = model(x)\n    model.weight.grad = None\n    return [y for y in loss]"
    assert _run(("model = 1", OURS), ("loss = 2", OURS), ("y = 3", OURS), (cell, THEIRS)) == [3]


def test_a_cell_that_changes_a_part_of_what_is_used_runs() -> None:
    assert _run(("seen = [0]", OURS), ("seen[0] = 1", OURS), ("print(seen)", THEIRS)) == [0, 1, 2]


def test_a_learners_cell_that_reads_any_name_needs_all_cells() -> None:
    assert _run(("a = 1", OURS), ("print(eval('a'))", THEIRS), ("b = 2", OURS)) == [0, 1, 2]


def test_an_unsolved_stub_runs_so_that_it_can_be_told_from_none() -> None:
    assert _run(("def train(): return ...", OURS), ("import os", OURS), wanted=("train",)) == [0]


def test_a_stub_does_not_take_the_place_of_a_learners_function() -> None:
    assert _run(("def train(): return 1", THEIRS), ("def train(): return ...", OURS), wanted=("train",)) == [0]


def test_a_cell_that_awaits_is_read_too() -> None:
    assert _run(("import asyncio", OURS), ("await asyncio.sleep(0)", THEIRS)) == [0, 1]


@pytest.mark.parametrize("source", ["def f(:", "x = (((", "\0", "(" * 5000])
def test_what_is_no_python_has_no_names(source: str) -> None:
    assert not names_of(source).binds


def test_the_text_of_a_definition_is_the_last_with_its_decorators() -> None:
    source = "def f():\n    return 1\n\nclass A:\n    def f(self):\n        pass\n\n@wrap\ndef f():\n    return 2\n"
    assert definition(source, "f") == "@wrap\ndef f():\n    return 2"


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("x = 1\n", "x = 1\n"),
        ("%%time\nx = 1", "\nx = 1"),
        ("%%capture out\nx = 1", "\nx = 1"),
        ("%%bash\nrm -rf /", ""),
        ("%%html\n<b>x</b>", ""),
    ],
)
def test_magics_of_a_cell_run_it_once_or_not_at_all(source: str, plain: str) -> None:
    assert plain_python(source) == plain


def test_a_line_for_the_shell_leaves_the_rest_of_its_cell() -> None:
    plain = plain_python("!ls\n%matplotlib inline\nx = 1\nx?")
    assert "x = 1" in plain
    compile(plain, "<cell>", "exec")
