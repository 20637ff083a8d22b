"""The rooms of lesson 6: what its checks rest on."""

from __future__ import annotations

import builtins
import random
import symtable
from collections import defaultdict
from pathlib import Path

import pytest

from course_utils.authoring.source import headings, read
from course_utils.checks.judge import answers_of, mistakes_of
from course_utils.learner import evaluate
from course_utils.lessons import exercise, lesson
from course_utils.lessons.lesson6.largest_micro_batch.task import Measured, calls_allowed, divisors


@pytest.mark.parametrize("kind", ["steadily", "in steps", "late", "early", "level"])
def test_a_measured_peak_never_falls(kind: str) -> None:
    for seed in range(20):
        peak = Measured(kind, random.Random(seed), level=60)
        peaks = [peak.of(size) for size in range(1, 300)]
        assert peaks == sorted(peaks) and len(set(peaks)) > 1
        assert not peak.sizes


def test_divisors_come_in_order_and_halving_their_list_needs_no_more_calls_than_are_allowed() -> None:
    for number in (1, 2, 13, 36, 97, 360, 5040):
        sizes = divisors(number)
        assert sizes == [n for n in range(1, number + 1) if number % n == 0]
        assert len(sizes).bit_length() <= calls_allowed(number) - 2


def test_the_right_size_of_each_case_is_the_one_that_it_names() -> None:
    task = exercise("6.7")
    right = answers_of(task.home).right
    for seed in range(10):
        for case in task.cases(seed):
            peak, batch_size, budget = task.arrange(case).args
            fits = case.spec["fits"]
            if fits is None:
                with pytest.raises(ValueError):
                    right(peak, batch_size, budget)
            else:
                assert right(peak, batch_size, budget) == fits, case.name


def test_a_mistake_with_company_is_shown_where_it_is_wrong_by_itself() -> None:
    """Old gradients can show only where there are some, whatever else is wrong with the same loop."""
    task = exercise("6.5")
    mistake = next(one for one in mistakes_of(task.home) if one.id == "first-step-on-old-gradients")
    for form in mistake.forms:
        fault = evaluate("6.5", form).faults[0]
        assert [words.id for words in fault.mistakes] == [mistake.id]
        shown = task.cases(0)[int(fault.case.split()[1]) - 1]
        assert "earlier" in shown.spec or "frozen_holds" in shown.spec


# ------------------------------------------------------------------ the names of the notebook


COMPREHENSIONS = {"listcomp", "setcomp", "dictcomp", "genexpr"}


def _names(code: str) -> tuple[set[str], set[str]]:
    """The names that a cell sets, and those that it, or a function of it when it is called later, takes from others."""
    table = symtable.symtable(code, "cell", "exec")
    sets = {one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()}
    takes = {one.get_name() for one in table.get_symbols() if one.is_referenced()} - sets

    def walk(inside: symtable.SymbolTable, later: bool) -> None:
        for child in inside.get_children():
            waits = later or child.get_name() not in COMPREHENSIONS
            found = {one.get_name() for one in child.get_symbols() if one.is_global() and one.is_referenced()}
            takes.update(found if waits else found - sets)
            walk(child, waits)

    walk(table, False)
    return sets, takes - set(dir(builtins))


def test_no_section_overwrites_a_name_that_another_one_needs() -> None:
    """So a reader can go back to any section, and its cells show what they showed."""
    sets: dict[str, set[str]] = defaultdict(set)
    takes: dict[str, set[str]] = defaultdict(set)
    section = "the cells before"
    for cell in read(Path(__file__).resolve().parent.parent, lesson(6)).cells:
        if cell.kind != "code":
            section = next((title for level, title in headings(cell.text) if level == 2), section)
            continue
        here, needed = _names(cell.solved)
        for name in here:
            sets[name].add(section)
        for name in needed:
            takes[name].add(section)
    assert {"small_model", "x_first", "texts"} <= takes.keys()
    for name, sections in takes.items():
        for needing in sections:
            providing = needing if needing in sets[name] else "the cells before"
            assert sets[name] <= {providing}, f"{name} of {needing!r} is overwritten in {sets[name] - {providing}}"
