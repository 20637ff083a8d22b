"""The verdict comes from the numbers alone; a name from the code that makes the mistake, where all of it agrees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from course_utils.authoring.verify import SEEDS
from course_utils.checks import effects
from course_utils.checks.difference import RESULT, difference_kind, differences, flatten, nice, shown
from course_utils.checks.judge import CannotJudge, answers_of, judge, left, left_by, mistakes_of
from course_utils.checks.observe import observe
from course_utils.exercise import Case, Change, Evidence, Exercise, Frame, Raised, Verdict
from course_utils.learner import evaluate
from course_utils.lessons import lessons
from course_utils.plain import Opaque, TensorData, to_plain

pytestmark = pytest.mark.turns

EXERCISES = [task for each in lessons() for task in each.exercises]

every_exercise = pytest.mark.parametrize("task", EXERCISES, ids=lambda task: task.id)
every_seed = pytest.mark.parametrize("seed", SEEDS)


def _right(task: Exercise, seed: int = 0) -> list[Evidence]:
    return [observe(task, answers_of(task.home).right, case) for case in task.cases(seed)]


def _names(verdict: Verdict) -> list[str]:
    return [words.id for words in verdict.faults[0].mistakes] if verdict.faults else []


@every_seed
@every_exercise
def test_the_right_answer_leaves_no_trace_and_its_numbers_pass(task: Exercise, seed: int) -> None:
    evidence = _right(task, seed)
    assert [piece.changes for piece in evidence] == [()] * len(evidence)
    verdict = judge(task, task.cases(seed), evidence)
    assert [fault for fault in verdict.faults if not fault.rule] == []


@every_exercise
def test_the_ids_of_an_exercise_differ(task: Exercise) -> None:
    ids = [one.id for one in mistakes_of(task.home)]
    assert len(set(ids)) == len(ids)


# ------------------------------------------------------------------ what else may be wrong


TASK = next(task for task in EXERCISES if task.name == "linear_mse_gradient")
CASES = TASK.cases(0)


def _all(change: Callable[[Evidence], Evidence], task: Exercise = TASK) -> list[Evidence]:
    return [change(replace(piece, facts={**piece.facts, "autograd": []})) for piece in _right(task)]


def _tensor(change: Callable[[torch.Tensor], object]) -> Callable[[Evidence], Evidence]:
    return lambda piece: replace(piece, result=to_plain(change(piece.result.value)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_tensor(lambda t: None), effects.returned_nothing),
        (_tensor(lambda t: t.tolist()), effects.wrong_type),
        (_tensor(lambda t: Opaque), effects.wrong_type),
        (_tensor(lambda t: torch.cat([t, t])), effects.wrong_shape),
        (_tensor(lambda t: t.half() if t.dtype == torch.float32 else t.float()), effects.wrong_dtype),
        (_tensor(lambda t: t / 0), effects.not_a_number),
        (_tensor(lambda t: torch.zeros(3_000_000)), effects.huge_result),
        (lambda p: replace(p, status="stopped", result=None), effects.endless_loop),
        (lambda p: replace(p, changes=(Change("x", "input", "1", "2"),)), effects.changed_input),
        (
            lambda p: replace(p, changes=(Change("the generator", "rng", "", ""), Change("x", "input", "1", "2"))),
            effects.changed_input,
        ),
        (lambda p: replace(p, result=TensorData(p.result.value, device="cuda")), effects.wrong_device),
        (lambda p: replace(p, result=TensorData(p.result.value, has_graph=True)), effects.carries_a_graph),
    ],
    ids=lambda value: getattr(value, "id", None),
)
def test_an_effect_has_its_name(change: Callable[[Evidence], Evidence], words: object) -> None:
    verdict = judge(TASK, CASES, _all(change))
    assert (verdict.outcome, verdict.points) == ("failed", 0)
    assert verdict.faults[0].mistakes == (words,)
    assert verdict.faults[0].observed and verdict.faults[0].case.startswith("case 1 of")


def test_a_forged_change_fails_and_has_no_name() -> None:
    verdict = judge(TASK, CASES, _all(lambda p: replace(p, changes=(Change("x", "invented", "1", "2"),))))
    assert verdict.outcome == "failed" and _names(verdict) == []


def test_one_mistake_does_not_hide_another() -> None:
    def change(piece: Evidence) -> Evidence:
        return replace(piece, result=to_plain(piece.result.value / 2), changes=(Change("w", "input", "1", "2"),))

    verdict = judge(TASK, CASES, _all(change))
    assert [fault.mistakes[0].id for fault in verdict.faults] == ["missing-factor-two", "changed-input"]


def test_two_mistakes_on_different_cases_are_both_told() -> None:
    def both(model, loss_fn, x, y):
        named = dict(model.named_parameters())
        asked = [p for p in named.values() if p.requires_grad]
        loss = ((model(x) - y) ** 2).mean()  # whatever loss_fn is
        found = torch.autograd.grad(loss, asked, allow_unused=True, materialize_grads=True)
        gradients = {id(p): g for p, g in zip(asked, found, strict=True)}
        return {name: gradients.get(id(p), torch.zeros_like(p)) for name, p in named.items()}  # frozen ones, too

    verdict = evaluate(next(task.id for task in EXERCISES if task.name == "parameter_gradients"), both)
    said = {words.id for fault in verdict.faults for words in fault.mistakes}
    assert {"frozen-parameter-listed", "squared-error-for-loss-fn"} <= said, said


def test_what_a_name_explains_is_not_told_once_more_of_the_rest() -> None:
    def of_summed_norms(model, optimizer, loss_fn, x, y, max_norm):
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        norm = sum(g.norm() for g in gradients)
        for g in gradients:
            g.mul_((max_norm / norm).clamp(max=1.0))
        optimizer.step()
        return loss_fn(model(x), y).item(), norm.item()

    task = next(task for task in EXERCISES if task.name == "train_step_clipped")
    named, rest = evaluate(task.id, of_summed_norms).faults
    assert [words.id for words in named.mistakes] == ["sum-of-norms"]
    assert rest.cases == named.cases and rest.certain == ()
    assert rest.observed[0] == "the returned loss"


def test_a_wrong_type_does_not_hide_a_mistake() -> None:
    def swapped(model, optimizer, loss_fn, x, y):
        optimizer.zero_grad()
        loss = loss_fn(y, model(x))
        loss.backward()
        optimizer.step()
        return loss

    faults = evaluate(next(task.id for task in EXERCISES if task.name == "train_step"), swapped).faults
    assert [words.id for fault in faults for words in fault.mistakes] == ["arguments-swapped", "wrong-type"]
    assert len(faults[1].cases) > len(faults[0].cases)


def test_a_mistake_that_breaks_a_rule_and_leaves_wrong_numbers_is_told_once() -> None:
    task = next(task for task in EXERCISES if task.name == "train_step_low_memory")
    cleared = next(one for one in mistakes_of(task.home) if one.id == "zeros-alive-in-the-forward-pass")
    (fault,) = evaluate(task.id, cleared.forms[0]).faults
    assert fault.mistakes == (cleared.words,)
    decays = [number for number, case in enumerate(task.cases(0), 1) if case.spec["model"] == "unused"]
    assert not fault.rule
    assert {2, 3, *decays} <= set(fault.cases)


def test_a_mistake_must_agree_on_every_case() -> None:
    # The first case alone shows half the gradient; on the others it is a quarter.
    evidence = _all(lambda piece: piece)
    for index in range(len(evidence)):
        factor = 0.5 if index == 0 else 0.25
        evidence[index] = replace(evidence[index], result=to_plain(evidence[index].result.value * factor))
    assert "missing-factor-two" not in _names(judge(TASK, CASES, evidence))


@pytest.mark.parametrize("others", [1, len(CASES) - 1])
def test_a_case_left_in_another_mode_may_part_from_a_mistake_if_most_cases_agree(others: int) -> None:
    # Half the gradient, and on some cases a third: there the mode came back another.
    evidence = _all(_tensor(lambda t: t / 2))
    for index in range(len(evidence) - others, len(evidence)):
        third = to_plain(evidence[index].result.value * 2 / 3)
        evidence[index] = replace(evidence[index], result=third, changes=(Change("model", "mode", "eval", "train"),))
    verdict = judge(TASK, CASES, evidence)
    if others > 1:
        assert "missing-factor-two" not in _names(verdict)
        return
    halved, mode = verdict.faults
    assert [words.id for words in halved.mistakes] == ["missing-factor-two"]
    assert halved.certain == (f"This leaves out case {len(CASES)}: there the mode was changed as well.",)
    assert mode.mistakes == (effects.changed_mode,) and mode.cases == (len(CASES),)


def test_right_numbers_in_another_dtype_are_not_taken_for_a_mistake() -> None:
    verdict = judge(TASK, CASES, _all(_tensor(lambda t: t.half())))
    assert _names(verdict) == ["wrong-dtype"]


def test_a_mistake_that_fits_only_where_it_changes_nothing_is_not_named() -> None:
    evidence = _all(lambda piece: piece)
    evidence[3] = replace(evidence[3], result=to_plain(evidence[3].result.value * 1.25))
    verdict = judge(TASK, CASES, evidence)
    assert verdict.misconception is None and verdict.cases_passed == len(CASES) - 1
    assert verdict.faults[0].case.startswith("case 4 of")


def test_a_mistake_is_not_named_where_its_words_need_an_attempt_to_be_right_and_it_is_wrong() -> None:
    found = {one.id: one for one in mistakes_of(next(task for task in EXERCISES if task.id == "7.2").home)}
    never = found["never-backs-off"].forms[0]

    def never_backs_off_and_grows_late(init, growth, backoff, interval):
        return never(init, growth, backoff, interval + 1)

    # It stays at 1, too; but not because of a limit there.
    named = {words.id for fault in evaluate("7.2", never_backs_off_and_grows_late).faults for words in fault.mistakes}
    assert "kept-above-one" not in named


def test_points_follow_the_cases_where_the_exercise_says_so() -> None:
    task = replace(TASK, partial=True, points=20)
    evidence = _all(lambda piece: piece)
    assert judge(task, CASES, evidence).points == 20
    evidence[2] = replace(evidence[2], result=None)
    verdict = judge(task, CASES, evidence)
    assert verdict.outcome == "failed" and verdict.points == 20 * (len(CASES) - 1) // len(CASES)
    assert judge(task, CASES, [replace(piece, result=None) for piece in evidence]).points == 0
    assert judge(task, CASES, [replace(evidence[0], status="not attempted", result=None)]).points == 0


def test_points_are_all_or_none_and_the_first_failing_case_is_shown() -> None:
    evidence = _all(lambda piece: piece)
    for index in (2, 5):
        evidence[index] = replace(evidence[index], result=None)
    verdict = judge(TASK, CASES, evidence)
    assert verdict.points == 0 and verdict.cases_passed == len(CASES) - 2
    assert CASES[2].name in verdict.faults[0].case and verdict.faults[0].cases == (3, 6)


# ------------------------------------------------------------------ exceptions


def _raised(kind: str, message: str, line: str = "answer = x + 1", warned: tuple[str, ...] = ()) -> list[str]:
    raised = Raised(kind, message, (Frame("answer", 2, line),))
    task = next(task for task in EXERCISES if task.name == "numerical_gradient")
    cases = task.cases(0)
    evidence = [Evidence(case.name, "raised", raised=raised, warned=warned) for case in cases]
    verdict = judge(task, cases, evidence)
    assert verdict.outcome == "raised" and verdict.faults[0].raised == raised
    return _names(verdict)


def _message_of(action: Callable[[], object]) -> tuple[str, str]:
    """Type and message as this torch words them."""
    with pytest.raises((RuntimeError, AttributeError, TypeError, ValueError, IndexError, NameError)) as caught:
        action()
    return type(caught.value).__name__, str(caught.value)


def _twice() -> None:
    loss = (torch.ones(2, requires_grad=True) ** 2).sum()
    loss.backward()
    loss.backward()


def _leaf_in_place() -> None:
    leaf = torch.ones(2, requires_grad=True)
    leaf -= 1


def _overwritten() -> None:
    x = torch.ones(2, requires_grad=True)
    y = torch.tanh(x)
    y += 1
    y.sum().backward()


def _gradient_of(inputs: torch.Tensor) -> None:
    torch.autograd.grad(torch.ones(2, requires_grad=True).sum(), inputs)


TORCH_ERRORS: dict[str, tuple[Callable[[], object], str]] = {
    "no graph": (lambda: torch.ones(()).backward(), "no-graph"),
    "graph freed": (_twice, "graph-freed"),
    "no scalar": (lambda: torch.ones(2, requires_grad=True).backward(), "backward-needs-scalar"),
    "leaf in place": (_leaf_in_place, "in-place-on-a-leaf"),
    "overwritten": (_overwritten, "overwrote-saved-value"),
    "unused": (lambda: _gradient_of(torch.ones(2, requires_grad=True)), "not-in-the-graph"),
    "frozen": (lambda: _gradient_of(torch.ones(2)), "no-requires-grad"),
    "matmul shapes": (lambda: torch.ones(2, 3) @ torch.ones(2, 3), "shapes-do-not-fit"),
    "matrix times vector": (lambda: torch.ones(2, 3) @ torch.ones(2), "shapes-do-not-fit"),
    "dot of other sizes": (lambda: torch.ones(3) @ torch.ones(2), "shapes-do-not-fit"),
    "sum of other sizes": (lambda: torch.ones(2, 3) + torch.ones(2), "shapes-do-not-fit"),
    "reshape": (lambda: torch.ones(5).reshape(2, 3), "shapes-do-not-fit"),
    "view": (lambda: torch.ones(2, 3).t().view(6), "view-of-non-contiguous"),
    "truth": (lambda: bool(torch.ones(2)), "truth-of-a-tensor"),
    "matmul dtypes": (lambda: torch.ones(2, 2) @ torch.ones(2, 2).double(), "mixed-dtypes"),
    "vector dtypes": (lambda: torch.ones(2, 2) @ torch.ones(2).double(), "mixed-dtypes"),
    "linear dtypes": (lambda: torch.nn.Linear(2, 2)(torch.ones(1, 2).double()), "mixed-dtypes"),
    "method of None": (lambda: torch.ones(2).grad.zero_(), "grad-is-none"),
    "index of 0-d": (lambda: torch.ones(())[0], "index-out-of-range"),
    "unpack": (lambda: [a for a, b in [torch.ones(3)]], "unpacked-wrongly"),
    "signature": (lambda: torch.optim.SGD(), "another-signature"),
}


@pytest.mark.parametrize("name", TORCH_ERRORS)
def test_torchs_own_words_are_recognised(name: str) -> None:
    action, misconception = TORCH_ERRORS[name]
    assert _raised(*_message_of(action)) == [misconception]


@pytest.mark.parametrize(
    ("kind", "message", "line", "names"),
    [
        (
            "TypeError",
            "unsupported operand type(s) for *: 'float' and 'NoneType'",
            "x -= lr * x.grad",
            ["grad-is-none"],
        ),
        (
            "TypeError",
            "unsupported operand type(s) for -: 'NoneType' and 'NoneType'",
            "up(x) - down(x)",
            ["operands-do-not-combine"],
        ),
        ("AttributeError", "'NoneType' object has no attribute 'T'", "forward(x).T", []),
        ("TypeError", "'NoneType' object is not iterable", "for gradient in numerical_gradients:", []),
    ],
)
def test_a_none_is_a_missing_gradient_only_where_a_gradient_is_near(
    kind: str, message: str, line: str, names: list[str]
) -> None:
    assert _raised(kind, message, line) == names


def test_a_none_that_torch_warned_of_is_the_grad_of_no_leaf() -> None:
    with pytest.warns(UserWarning) as caught:
        _ = (torch.ones(2, requires_grad=True) * 1).grad
    warned = (str(caught[0].message),)
    assert _raised("TypeError", "'float' and 'NoneType'", "x = x - lr * x.grad", warned) == ["grad-of-a-non-leaf"]
    later = "unsupported operand type(s) for +: 'int' and 'NoneType'"
    assert _raised("TypeError", later, "return found, sum(found)", warned) == ["grad-of-a-non-leaf"]
    assert _raised("TypeError", later, "return found, sum(found)") == ["operands-do-not-combine"]


# ------------------------------------------------------------------ evidence that is none


def test_evidence_that_does_not_fit_the_cases_is_refused() -> None:
    right = _all(lambda piece: piece)
    for evidence in ([], right[1:], right[:3], [Evidence(CASES[0].name, "raised")], right * 2):
        with pytest.raises(ValueError):
            judge(TASK, CASES, evidence)


# ------------------------------------------------------------------ comparing


@pytest.mark.parametrize(
    ("expected", "got", "kind"),
    [
        (torch.ones(2), torch.ones(2), None),
        (torch.ones(2), torch.ones(2) + 1e-6, None),
        (torch.ones(2), torch.ones(2) + 1e-3, "value"),
        (torch.ones(2).double(), torch.ones(2).double() + 1e-6, "value"),
        (torch.zeros(2), torch.zeros(2), None),
        (torch.ones(2), torch.ones(2).double(), None),
        (torch.ones(2), torch.ones(2).double() * 2, "value"),
        (torch.ones(2), torch.ones(2, 1), "shape"),
        (torch.ones(2), 1.0, "type"),
        (torch.ones(2), None, "none"),
        (torch.ones(2), torch.tensor([1.0, float("nan")]), "not finite"),
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, float("nan")]), None),
        (torch.tensor([1.0, float("inf")]), torch.ones(2), "value"),
        ([1, 2], [1], "missing"),
        ([1, 2], [1, 2, 3], "extra"),
        ([1, 2], (1, 2), None),
        ({"a": 1}, {"b": 1}, "missing"),
        ({"a": 1}, {"a": 1, "b": 1}, "extra"),
        ({"a": 1}, {"a": 2}, "value"),
        ({"a": 1}, [1], "type"),
        (2, 2.0, None),
        (True, 1, "type"),
        (2.0, float("inf"), "not finite"),
        (None, None, None),
        (None, torch.zeros(2), "type"),
        ("left", "right", "value"),
    ],
)
def test_the_kind_of_a_difference(expected: object, got: object, kind: str | None) -> None:
    found = differences(flatten(to_plain(expected), RESULT), flatten(to_plain(got), RESULT))
    assert (found[0].kind if found else None) == kind


def test_every_difference_is_found_and_not_the_first_alone() -> None:
    expected = {"a": torch.ones(2), "b": torch.ones(2), "c": torch.ones(2)}
    given = {"a": torch.ones(2) * 2, "b": torch.ones(2), "d": torch.ones(2)}
    found = differences(flatten(to_plain(expected), RESULT), flatten(to_plain(given), RESULT))
    assert [(one.where, one.kind) for one in found] == [
        ("the result['a']", "value"),
        ("the result['c']", "missing"),
        ("the result['d']", "extra"),
    ]


@pytest.mark.parametrize(
    ("expected", "given", "said"),
    [
        ([3.0, 4.0], [6.0, 8.0], "Same direction, 2 times as long."),
        ([3.0, 4.0], [-1.5, -2.0], "Opposite direction, 1/2 times as long."),
        ([3.0, 4.0], [-3.0, -4.0], "Opposite direction, same length."),
        ([3.0, 4.0], [3.0, 5.0], "1 of 2 entries differ, by up to 1."),
        ([3.0, 4.0], [0.0, 0.0], "all that was given is zero"),
    ],
)
def test_a_difference_is_told_in_words(expected: list[float], given: list[float], said: str) -> None:
    a, b = flatten(to_plain(torch.tensor(expected)), RESULT), flatten(to_plain(torch.tensor(given)), RESULT)
    lines = shown(differences(a, b), a, b)
    assert lines[-1] == said
    columns = [
        line.index(f"{row[0]:.4g}") + len(f"{row[0]:.4g}")
        for line, row in zip(lines[1:3], (expected, given), strict=True)
    ]
    assert columns[0] == columns[1], "expected and given stand under each other"


def test_what_the_call_left_is_named_by_its_entry_first() -> None:
    a, b = (flatten({"bias": value}, ".grad after the call") for value in (1.0, 2.0))
    assert shown(differences(a, b), a, b)[0].startswith("'bias': .grad after the call")
    a, b = flatten({"bias": 1.0}, RESULT), flatten({"bias": 2.0}, RESULT)
    assert shown(differences(a, b), a, b)[0].startswith("the result['bias']")


def test_a_list_of_another_length_is_told_before_what_else_differs() -> None:
    a, b = (flatten(tree, RESULT) for tree in ([[1], [2, 3], [4, [5]]], [[0], [2, 3, 4], [5]]))
    line = "other than expected, too: the entries of the result[1], the entries of the result[2], the result[2][0]"
    assert shown(differences(a, b), a, b)[-1] == line


def test_where_all_names_are_gone_the_card_says_none() -> None:
    a, b = flatten({"0.weight": 1.0}, "what it remembers"), flatten({}, "what it remembers")
    lines = shown(differences(a, b), a, b)
    assert lines == ("what it remembers, its names", "  expected  '0.weight'", "  given     none")


def test_numbers_are_said_as_one_would() -> None:
    assert [nice(value) for value in (2.0, 0.5, -1 / 3, 1.25, 1e-12)] == ["2", "1/2", "-1/3", "1.25", "0"]
    assert difference_kind(1.0, 1.0 + 1e-9) is None


def _no_such_keyword(*_: object) -> None:
    raise TypeError("no such keyword")


def test_two_that_fail_alike_are_not_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a torch lacks what the course asks of it: then everything would pass."""
    right = replace(answers_of(TASK.home), right=_no_such_keyword)
    monkeypatch.setattr(left, "answers_of", lambda _: right)
    monkeypatch.setattr(left, "_seen", {})
    evidence = [observe(TASK, _no_such_keyword, case) for case in CASES]
    with pytest.raises(CannotJudge, match=r"own answer ended with TypeError: no such keyword .* no fault of your code"):
        judge(TASK, CASES, evidence)


def test_a_right_answer_that_takes_too_long_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"right answers": "of earlier checks"}
    monkeypatch.setattr(left, "_seen", known)
    monkeypatch.setattr(left, "left_by", lambda *_: Evidence(CASES[0].name, "stopped"))
    with pytest.raises(CannotJudge, match=r"own answer ran into the time limit .* check again"):
        judge(TASK, CASES, [Evidence(case.name, "stopped") for case in CASES])
    assert not known


def test_a_case_of_another_seed_is_another_case() -> None:
    first, second = (left_by(TASK, answers_of(TASK.home).right, "", 0, TASK.cases(seed)[0]) for seed in SEEDS)
    assert not torch.equal(first.result.value, second.result.value)
    assert isinstance(CASES[0], Case)
