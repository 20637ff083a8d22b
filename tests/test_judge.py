"""The verdict comes from numbers alone; the name of a mistake from the answer that mistake gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from course_utils.difference import compare
from course_utils.exercise import Case, Change, Evidence, Exercise, Frame, Raised
from course_utils.judge import judge
from course_utils.lessons import exercise
from course_utils.misconceptions import catalogue
from course_utils.oracles.lesson1 import ORACLES
from course_utils.oracles.oracle import Answer, OneOf
from course_utils.plain import Opaque, Plain, TensorData, to_plain

SEEDS = (0, 1, 2)
FACTS: dict[str, object] = {"calls of f": 0, "autograd": [], "different tensors": 0}


def _evidence(case: Case, answer: Answer, option: int = 0) -> Evidence:
    """What an attempt with this answer would leave; of several forms, the one numbered `option`."""
    result = _form(answer.result, option)
    facts = {**FACTS, **answer.facts}
    if isinstance(result, list) and "different tensors" not in answer.facts:
        facts["different tensors"] = len(result)
    plain = {key: to_plain(value) for key, value in facts.items()}
    return Evidence(case.name, "returned", to_plain(result), plain)


def _form(value: object, option: int) -> object:
    """`value`, which may hold `OneOf` anywhere, with one option of each, or the last where there are fewer."""
    if isinstance(value, OneOf):
        return _form(value.options[min(option, len(value.options) - 1)], option)
    if isinstance(value, dict):
        return {key: _form(item, option) for key, item in value.items()}
    return [_form(item, option) for item in value] if isinstance(value, list | tuple) else value


def _forms_of(value: object) -> int:
    if isinstance(value, OneOf):
        return max(len(value.options), *map(_forms_of, value.options))
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return max(map(_forms_of, inside), default=1)


def _right(task: Exercise, cases: list[Case]) -> list[Evidence]:
    return [_evidence(case, ORACLES[task.id].answer(case)) for case in cases]


def _forms() -> list[tuple[str, str, int]]:
    """(exercise, misconception, number of the form) of every fingerprint of lesson 1."""
    found = []
    for identifier, oracle in ORACLES.items():
        for name, gives in oracle.misconceptions.items():
            answers = [gives(case) for case in exercise(identifier).cases(0)]
            count = max(_forms_of(answer.result) for answer in answers if answer is not None)
            found += [(identifier, name, form) for form in range(count) if not _is_right(identifier, name, form)]
    return found


def _is_right(identifier: str, name: str, form: int) -> bool:
    """Whether this form is the right answer: with a choice for each entry, all entries may be right."""
    oracle = ORACLES[identifier]
    for case in exercise(identifier).cases(0):
        right, answer = oracle.answer(case), oracle.misconceptions[name](case) or oracle.answer(case)
        facts_differ = any(compare(right.facts.get(k), to_plain(v)) for k, v in answer.facts.items())
        if facts_differ or compare(right.result, to_plain(_form(answer.result, form))) is not None:
            return False
    return True


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("identifier", sorted(ORACLES))
def test_the_right_answer_passes(identifier: str, seed: int) -> None:
    task = exercise(identifier)
    cases = task.cases(seed)
    verdict = judge(task, cases, _right(task, cases))
    assert (verdict.outcome, verdict.points) == ("passed", task.points), verdict.observed


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("identifier", "name", "form"), _forms(), ids=lambda value: str(value))
def test_the_answer_of_a_mistake_is_named_after_it(identifier: str, name: str, form: int, seed: int) -> None:
    task, oracle = exercise(identifier), ORACLES[identifier]
    cases = task.cases(seed)
    answers = [oracle.misconceptions[name](case) or oracle.answer(case) for case in cases]
    evidence = [_evidence(case, answer, form) for case, answer in zip(cases, answers, strict=True)]
    verdict = judge(task, cases, evidence)
    assert (verdict.outcome, verdict.misconception) == ("failed", name)


@pytest.mark.parametrize("identifier", sorted(ORACLES))
def test_every_name_an_oracle_gives_has_an_entry(identifier: str) -> None:
    oracle = ORACLES[identifier]
    assert {*oracle.misconceptions, *(name for _, _, name in oracle.errors)} <= set(catalogue())


# ------------------------------------------------------------------ what else may be wrong


TASK = exercise("1.2")
CASES = TASK.cases(0)


def _all(change: Callable[[Evidence], Evidence], task: Exercise = TASK) -> list[Evidence]:
    cases = task.cases(0)
    return [change(piece) for piece in _right(task, cases)]


def _tensor(change: Callable[[torch.Tensor], object]) -> Callable[[Evidence], Evidence]:
    return lambda piece: replace(piece, result=to_plain(change(piece.result.value)))


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (_tensor(lambda t: None), "returned-nothing"),
        (_tensor(lambda t: t.tolist()), "wrong-type"),
        (_tensor(lambda t: Opaque), "wrong-type"),
        (_tensor(lambda t: t[:, None]), "wrong-shape"),
        (_tensor(lambda t: t.half() if t.dtype == torch.float32 else t.float()), "wrong-dtype"),
        (_tensor(lambda t: t / 0), "not-a-number"),
        (_tensor(lambda t: torch.zeros(3_000_000)), "huge-result"),
        (_tensor(lambda t: t + 17), None),
        (lambda p: replace(p, status="stopped", result=None), "endless-loop"),
        (lambda p: replace(p, facts={"autograd": ["backward"]}), "used-autograd"),
        (lambda p: replace(p, changes=(Change("x", "input", "1", "2"),)), "changed-input"),
        (
            lambda p: replace(p, changes=(Change("the generator", "rng", "", ""), Change("x", "input", "1", "2"))),
            "changed-input",
        ),
        (lambda p: replace(p, changes=(Change("x", "invented", "1", "2"),)), None),
        (lambda p: replace(p, result=TensorData(p.result.value, device="cuda")), "wrong-device"),
    ],
    ids=[
        "None",
        "list",
        "a-class",
        "a-column",
        "another-dtype",
        "infinite",
        "huge",
        "unknown",
        "stopped",
        "autograd",
        "changed",
        "changed-and-drawn",
        "changed-in-a-forged-way",
        "elsewhere",
    ],
)
def test_what_is_wrong_is_named(change: Callable[[Evidence], Evidence], name: str | None) -> None:
    verdict = judge(TASK, CASES, _all(change))
    assert (verdict.outcome, verdict.misconception, verdict.points) == ("failed", name, 0)
    assert verdict.observed and verdict.case.startswith("case 1 of 7")


def test_a_changed_input_explains_numbers_that_no_mistake_gives() -> None:
    def change(piece: Evidence) -> Evidence:
        wrong = to_plain(piece.result.value * 1.37)
        return replace(piece, result=wrong, changes=(Change("w", "input", "[1.0]", "[2.0]"),))

    verdict = judge(TASK, CASES, _all(change))
    assert verdict.misconception == "changed-input"
    assert any("norm ratio" in line for line in verdict.observed)
    assert any("before the call [1.0], after it [2.0]" in line for line in verdict.observed)


def test_a_known_mistake_comes_before_a_changed_input() -> None:
    def change(piece: Evidence) -> Evidence:
        return replace(piece, result=to_plain(piece.result.value / 2), changes=(Change("w", "input", "", ""),))

    assert judge(TASK, CASES, _all(change)).misconception == "missing-factor-two"


def test_right_numbers_in_another_dtype_are_not_taken_for_a_mistake() -> None:
    # On the first case of 1.3 several mistakes give the right numbers.
    task = exercise("1.3")
    evidence = [
        replace(p, result={k: to_plain(v.value.float()) for k, v in p.result.items()})
        for p in _right(task, task.cases(0))
    ]
    verdict = judge(task, task.cases(0), evidence)
    assert verdict.misconception == "wrong-dtype"


def test_a_mistake_that_fits_only_where_it_changes_nothing_is_not_named() -> None:
    evidence = _all(lambda piece: piece)
    evidence[3] = replace(evidence[3], result=to_plain(evidence[3].result.value * 1.25))
    verdict = judge(TASK, CASES, evidence)
    assert verdict.misconception is None and verdict.cases_passed == 6
    assert verdict.case.startswith("case 4 of 7")


def test_points_are_all_or_none_and_the_first_failing_case_is_shown() -> None:
    evidence = _right(TASK, CASES)
    for index in (2, 5):
        evidence[index] = replace(evidence[index], result=None)
    verdict = judge(TASK, CASES, evidence)
    assert verdict.points == 0 and verdict.cases_passed == 5
    assert CASES[2].name in verdict.case


# ------------------------------------------------------------------ exceptions


def _raised(kind: str, message: str, line: str = "answer = x + 1") -> str | None:
    raised = Raised(kind, message, (Frame("answer", 2, line),))
    evidence = [Evidence(case.name, "raised", raised=raised) for case in CASES]
    verdict = judge(TASK, CASES, evidence)
    assert verdict.outcome == "raised" and verdict.raised == raised
    return verdict.misconception


def _message_of(action: Callable[[], object]) -> tuple[str, str]:
    """Type and message as this torch words them."""
    with pytest.raises((RuntimeError, AttributeError, TypeError, ValueError)) as caught:
        action()
    return type(caught.value).__name__, str(caught.value)


def _twice() -> None:
    loss = (torch.ones(2, requires_grad=True) ** 2).sum()
    loss.backward()
    loss.backward()


def _leaf_in_place() -> None:
    leaf = torch.ones(2, requires_grad=True)
    leaf -= 1


TORCH_ERRORS: dict[str, tuple[Callable[[], object], str]] = {
    "no graph": (lambda: torch.ones(()).backward(), "no-graph"),
    "graph freed": (_twice, "graph-freed"),
    "no scalar": (lambda: torch.ones(2, requires_grad=True).backward(), "backward-needs-scalar"),
    "leaf in place": (_leaf_in_place, "in-place-on-a-leaf"),
    "matmul shapes": (lambda: torch.ones(2, 3) @ torch.ones(2, 3), "shapes-do-not-fit"),
    "matrix times vector": (lambda: torch.ones(2, 3) @ torch.ones(2), "shapes-do-not-fit"),
    "dot of other sizes": (lambda: torch.ones(3) @ torch.ones(2), "shapes-do-not-fit"),
    "sum of other sizes": (lambda: torch.ones(2, 3) + torch.ones(2), "shapes-do-not-fit"),
    "reshape": (lambda: torch.ones(5).reshape(2, 3), "shapes-do-not-fit"),
    "matmul dtypes": (lambda: torch.ones(2, 2) @ torch.ones(2, 2).double(), "mixed-dtypes"),
    "vector dtypes": (lambda: torch.ones(2, 2) @ torch.ones(2).double(), "mixed-dtypes"),
    "linear dtypes": (lambda: torch.nn.Linear(2, 2)(torch.ones(1, 2).double()), "mixed-dtypes"),
    "method of None": (lambda: torch.ones(2).grad.zero_(), "grad-is-none"),
}


@pytest.mark.parametrize("name", TORCH_ERRORS)
def test_torchs_own_words_are_recognised(name: str) -> None:
    action, misconception = TORCH_ERRORS[name]
    assert _raised(*_message_of(action)) == misconception


@pytest.mark.parametrize(
    ("kind", "message", "line", "name"),
    [
        ("TypeError", "unsupported operand type(s) for *: 'float' and 'NoneType'", "x -= lr * x.grad", "grad-is-none"),
        ("TypeError", "unsupported operand type(s) for -: 'NoneType' and 'NoneType'", "up(x) - down(x)", None),
        ("AttributeError", "'NoneType' object has no attribute 'T'", "forward(x).T", None),
        ("TypeError", "'NoneType' object is not iterable", "for gradient in numerical_gradients:", None),
        ("NameError", "name 'eps' is not defined", "h = eps", None),
    ],
)
def test_a_none_is_a_missing_gradient_only_where_a_gradient_is_near(
    kind: str, message: str, line: str, name: str | None
) -> None:
    assert _raised(kind, message, line) == name


# ------------------------------------------------------------------ evidence that is none


@pytest.mark.parametrize(
    "evidence",
    [
        [],
        _right(TASK, CASES)[1:],
        _right(TASK, CASES)[:3],
        [Evidence(CASES[0].name, "raised")],
        _right(TASK, CASES) * 2,
    ],
    ids=["none", "of-other-cases", "too-little", "raised-but-what", "twice"],
)
def test_evidence_that_does_not_fit_the_cases_is_refused(evidence: list[Evidence]) -> None:
    with pytest.raises(ValueError):
        judge(TASK, CASES, evidence)


FORGED: list[Plain] = [None, {}, [], "", 0, [None], {"W1": None}, Opaque("x", "y"), [TensorData(torch.ones(1))] * 4]


@pytest.mark.parametrize("identifier", sorted(ORACLES))
def test_forged_evidence_fails_and_breaks_nothing(identifier: str) -> None:
    task = exercise(identifier)
    cases = task.cases(0)
    for result in FORGED:
        for facts in ({}, {"autograd": [1]}, {"different tensors": "many"}, {".grad after the call": 3}):
            evidence = [Evidence(case.name, "returned", result, facts) for case in cases]
            assert judge(task, cases, evidence).outcome == "failed"


# ------------------------------------------------------------------ comparing


@pytest.mark.parametrize(
    ("expected", "got", "kind"),
    [
        (torch.ones(2), torch.ones(2), None),
        (torch.ones(2), torch.ones(2) + 1e-6, None),
        (torch.ones(2), torch.ones(2) + 1e-3, "value"),
        (torch.ones(2).double(), torch.ones(2).double() + 1e-6, "value"),
        (torch.zeros(2), torch.zeros(2), None),
        (torch.ones(2), torch.ones(2).double(), "dtype"),
        (torch.ones(2), torch.ones(2).double() * 2, "value"),
        (torch.ones(2), torch.ones(2, 1), "shape"),
        (torch.ones(2), 1.0, "type"),
        (torch.ones(2), None, "none"),
        (torch.ones(2), torch.tensor([1.0, float("nan")]), "not finite"),
        ([1, 2], [1], "missing"),
        ([1, 2], [1, 2, 3], "extra"),
        ([1, 2], (1, 2), None),
        ({"a": 1}, {"b": 1}, "missing"),
        ({"a": 1}, {"a": 1, "b": 1}, "extra"),
        ({"a": 1}, {"a": 2}, "value"),
        (2, 2.0, None),
        (True, 1, "type"),
        (2.0, float("inf"), "not finite"),
        (OneOf((None, torch.zeros(2))), None, None),
        (OneOf((None, torch.zeros(2))), torch.zeros(2), None),
        (OneOf((None, torch.zeros(2))), torch.ones(2), "value"),
        (None, None, None),
        ("left", "right", "value"),
    ],
)
def test_the_kind_of_a_difference(expected: object, got: object, kind: str | None) -> None:
    found = compare(expected, to_plain(got))
    assert (found.kind if found else None) == kind


def test_a_value_that_is_wrong_comes_before_a_dtype_that_is() -> None:
    expected = [torch.ones(2), torch.ones(2)]
    got = to_plain([torch.ones(2).double(), torch.ones(2) * 3])
    found = compare(expected, got)
    assert found is not None and (found.kind, found.where) == ("value", "the result[1]")


def test_a_difference_is_told_in_ratio_and_cosine() -> None:
    found = compare(torch.tensor([3.0, 4.0]), to_plain(torch.tensor([6.0, 8.0])))
    assert found is not None and "norm ratio 2.000000, cosine 1.000000" in found.lines
