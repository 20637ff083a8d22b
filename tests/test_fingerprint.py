"""Wrong answers that do the same have one id, and others have others."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gradebooks as made
import pytest

from course_utils.exercise import Change, Evidence, Raised
from course_utils.grading.fingerprint import fingerprint
from course_utils.learner import all_cases
from course_utils.lessons import exercise


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
