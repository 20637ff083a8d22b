"""The same submission gives the same bytes whenever it is graded with one seed, and the same marks with any other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from graders import notebook

from course_utils.grading.grade import Grader
from course_utils.grading.result import Result, Submission
from course_utils.grading.result_json import to_json
from course_utils.grading.sandbox import NoIsolation, Sandbox

pytestmark = pytest.mark.heavy
TIMES = 50
CELLS = (
    """import torch


def clear_gradients(params, set_to_none=True):
    for param in params:
        if set_to_none:
            param.grad = None
        elif param.grad is not None:
            param.grad.zero_()
""",
    """def optimizer_zero_grad(optimizer, set_to_none=True):
    noise = torch.rand(3)
    first = list({"red", "green", "blue", "black"}).index("red")
    for group in optimizer.param_groups:
        for param in group["params"]:
            if param.grad is not None:
                param.grad += noise.sum() + first
""",
)
"""One right answer; and one that is wrong, that draws random numbers, and that asks for the order of a set."""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """One for all seeds: what another seed changes is the cases, which do not lie in it."""
    try:
        started = Sandbox()
    except NoIsolation as reason:
        pytest.skip(str(reason))
    with started:
        yield started


def graded(sandbox: Sandbox, seed: str) -> Result:
    grader = Grader(seed)
    grader._sandbox = sandbox
    return grader.grade(Submission("ada", "ada.ipynb"), notebook(*CELLS))


def test_one_seed_gives_the_same_bytes_fifty_times(sandbox: Sandbox) -> None:
    first = graded(sandbox, "one seed")
    assert [marked.verdict.outcome for marked in first.exercises[:2]] == ["passed", "failed"]
    assert first.exercises[1].cluster
    texts = {to_json(graded(sandbox, "one seed"), "run") for _ in range(TIMES)}
    assert texts == {to_json(first, "run")}


def test_fifty_seeds_give_the_same_marks(sandbox: Sandbox) -> None:
    results = [graded(sandbox, f"seed {number}") for number in range(TIMES)]
    assert {tuple(marked.points for marked in result.exercises) for result in results} == {(15, 0, 0, 0, 0)}
    assert len({to_json(result, "run") for result in results}) > 1  # the cases were others
