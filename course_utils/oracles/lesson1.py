"""Lesson 1: right answers, and what each misconception would answer on the same case."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from course_utils.exercise import Case, Evidence
from course_utils.lessons.inputs import gradients_held, mean_square_error, model_and_batch
from course_utils.lessons.lesson1 import (
    FUNCTIONS,
    linear_inputs,
    point,
    two_layer_inputs,
)
from course_utils.oracles.oracle import Answer, Broken, OneOf, Oracle

Grads = dict[str, torch.Tensor]


def no_autograd(case: Case, evidence: Evidence) -> Broken | None:
    """The rule of 1.2 and 1.5."""
    used = evidence.facts.get("autograd")
    return Broken("used-autograd", f"the code called {', '.join(sorted(set(used)))}") if used else None


# ------------------------------------------------------------------ 1.1


def _probe(case: Case, weights: dict[float, float], divisor: float = 1.0, h: float | None = None) -> Answer:
    """sum over (offset, weight) of weight * f(x + offset * h * e_i), over divisor * h, for each entry i."""
    f, x = FUNCTIONS[case.spec["f"]], point(case)
    h = case.spec.get("h", 1e-5) if h is None else h
    entries = []
    for index in range(x.numel()):
        total = torch.zeros((), dtype=x.dtype, device=x.device)
        for offset, weight in weights.items():
            moved = x.clone().reshape(-1)
            moved[index] += offset * h
            total = total + weight * f(moved.reshape(x.shape))
        entries.append(total / (divisor * h))
    return Answer(torch.stack(entries).reshape(x.shape) if entries else torch.zeros_like(x))


def _central(case: Case) -> Answer:
    return _probe(case, {1: 1, -1: -1}, 2)


def _all_at_once(case: Case) -> Answer:
    f, x, h = FUNCTIONS[case.spec["f"]], point(case), case.spec.get("h", 1e-5)
    return Answer(torch.ones_like(x) * (f(x + h) - f(x - h)) / (2 * h))


def _left_behind(case: Case) -> Answer:
    """Entries are moved one after the other and never put back: in one copy that drifts, or in two that part."""
    f, x, h = FUNCTIONS[case.spec["f"]], point(case), case.spec.get("h", 1e-5)
    one, up, down = (x.clone(memory_format=torch.contiguous_format).reshape(-1) for _ in range(3))
    drifting, parting = [], []
    for index in range(x.numel()):
        one[index] += h
        above = f(one.reshape(x.shape))
        one[index] -= 2 * h
        drifting.append((above - f(one.reshape(x.shape))) / (2 * h))
        up[index] += h
        down[index] -= h
        parting.append((f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h))
    return Answer(OneOf(tuple(torch.stack(entries).reshape(x.shape) for entries in (drifting, parting))))


def _five_points(case: Case) -> Answer:
    """The five-point stencil with step h, or with step h / 2, as Richardson extrapolation gives it."""
    weights = {2.0: -1.0, 1.0: 8.0, -1.0: -8.0, -2.0: 1.0}
    halved = {offset / 2: weight for offset, weight in weights.items()}
    return Answer(OneOf((_probe(case, weights, 12).result, _probe(case, halved, 6).result)))


def _whole_rows(case: Case) -> Answer | None:
    f, x, h = FUNCTIONS[case.spec["f"]], point(case), case.spec.get("h", 1e-5)
    if x.ndim == 0:
        return None
    result = torch.zeros_like(x)
    for index in range(len(x)):
        up, down = x.clone(), x.clone()
        up[index] += h
        down[index] -= h
        result[index] = (f(up) - f(down)) / (2 * h)
    return Answer(result)


def _first_entries_alone(case: Case) -> Answer | None:
    right = _tensor(_central(case))
    if right.ndim == 0:
        return None
    flat = right.clone().reshape(-1)
    flat[len(right) :] = 0
    return Answer(flat.reshape(right.shape))


def _copy_by_reshape(case: Case) -> Answer:
    right = _tensor(_central(case))
    return Answer(torch.zeros_like(right) if case.spec.get("transposed") else right)


def _one_tensor_two_names(case: Case) -> Answer:
    """Both probes at one point, or the second one at x, where the move down ends; two calls of f an entry."""
    half = _tensor(_probe(case, {1: 1, 0: -1}, 2))
    return Answer(OneOf((torch.zeros_like(half), half)), {"calls of f": 2 * half.numel()})


def _derivative(case: Case) -> Answer | None:
    if case.spec["f"] == "opaque":
        return None
    x = point(case).requires_grad_()
    return Answer(torch.autograd.grad(FUNCTIONS[case.spec["f"]](x), x)[0])


def _tensor(answer: Answer) -> torch.Tensor:
    assert isinstance(answer.result, torch.Tensor)
    return answer.result


def _either(*answers: Callable[[Case], Answer]) -> Callable[[Case], Answer]:
    """Several forms of one mistake."""
    return lambda case: Answer(OneOf(tuple(answer(case).result for answer in answers)))


def _times(factor: Callable[[Case], float], answer: Callable[[Case], Answer]) -> Callable[[Case], Answer]:
    def scaled(case: Case) -> Answer:
        result = answer(case).result
        if isinstance(result, dict):
            return Answer({name: value * factor(case) for name, value in result.items()})
        assert isinstance(result, torch.Tensor)
        return Answer(result * factor(case))

    return scaled


def _tolerance_1_1(case: Case) -> float:
    # Rounding of f is divided by 2h: eps / h, with a margin for the order of the operations.
    eps = torch.finfo(torch.float32 if case.spec.get("dtype") == "float32" else torch.float64).eps
    return 50 * eps / case.spec.get("h", 1e-5)


# ------------------------------------------------------------------ 1.2


def _linear(case: Case) -> Answer:
    w, x, y = linear_inputs(case)
    w.requires_grad_()
    return Answer(torch.autograd.grad(mean_square_error(x @ w, y), w)[0])


def _per_row(case: Case) -> Answer:
    w, x, y = linear_inputs(case)
    rows = 2 * x * (x @ w - y)[:, None]
    return Answer(OneOf((rows / len(y), rows)))


def _prediction_for_residual(case: Case) -> Answer:
    w, x, y = linear_inputs(case)
    return Answer(2 * x.T @ (x @ w) / len(y))


def _loss_value(case: Case) -> Answer:
    w, x, y = linear_inputs(case)
    return Answer(mean_square_error(x @ w, y))


def _residual_alone(case: Case) -> Answer:
    w, x, y = linear_inputs(case)
    return Answer(2 * (x @ w - y) / len(y))


def _broadcast_to_matrix(case: Case) -> Answer | None:
    """x @ w as a column minus y as a row: an (n, n) matrix of residuals, then averaged over all of it."""
    w, x, y = linear_inputs(case)
    if len(y) == 1:
        return None
    w.requires_grad_()
    return Answer(torch.autograd.grad((((x @ w)[:, None] - y) ** 2).mean(), w)[0])


def _features(case: Case) -> float:
    return 1 / float(case.spec["d"])


# ------------------------------------------------------------------ 1.3


def _fresh(case: Case) -> tuple[nn.Module, Grads]:
    """The model of the case, and this batch's gradients by name, zeros where unused."""
    model, x, y = model_and_batch(case)
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    found = torch.autograd.grad(mean_square_error(model(x), y), list(named.values()), allow_unused=True)
    return model, {
        name: torch.zeros_like(p) if g is None else g for (name, p), g in zip(named.items(), found, strict=True)
    }


def _answer_1_3(
    result: Callable[[nn.Module, Grads], object],
    after: Callable[[nn.Module, Grads], dict[str, torch.Tensor | None]],
) -> Callable[[Case], Answer]:
    def gives(case: Case) -> Answer:
        model, fresh = _fresh(case)
        return Answer(result(model, fresh), {".grad after the call": after(model, fresh)})

    return gives


def _held(model: nn.Module, fresh: Grads) -> dict[str, torch.Tensor | None]:
    return gradients_held(model)


def _this_batch(model: nn.Module, fresh: Grads) -> Grads:
    return fresh


def _used(model: nn.Module, name: str) -> bool:
    return not name.startswith("unused.")


def _after_backward(
    model: nn.Module, fresh: Grads, start: dict[str, torch.Tensor | None]
) -> dict[str, torch.Tensor | None]:
    """What backward leaves in `.grad` when it starts from `start`: unused parameters keep what they had."""
    after = dict(start)
    for name, gradient in fresh.items():
        if _used(model, name):
            old = start[name]
            after[name] = gradient if old is None else old + gradient
    return after


def _nothing(model: nn.Module) -> dict[str, torch.Tensor | None]:
    return {name: None for name, _ in model.named_parameters()}


def _added(model: nn.Module, fresh: Grads) -> dict[str, torch.Tensor | None]:
    return _after_backward(model, fresh, gradients_held(model))


def _added_or_zeros(model: nn.Module, fresh: Grads) -> Grads:
    """Old plus new, as read off `.grad`; zeros where nothing was and nothing came."""
    found = {name: (_added(model, fresh)[name], gradient) for name, gradient in fresh.items()}
    return {name: torch.zeros_like(gradient) if added is None else added for name, (added, gradient) in found.items()}


def _left(model: nn.Module, fresh: Grads) -> dict[str, torch.Tensor | None]:
    return _after_backward(model, fresh, _nothing(model))


def _zeros_after(model: nn.Module, fresh: Grads) -> dict[str, torch.Tensor | None]:
    """`zero_grad(set_to_none=False)` at the end: zeros where backward had put something."""
    return {name: None if value is None else torch.zeros_like(value) for name, value in _left(model, fresh).items()}


def _none_became_zeros(model: nn.Module, fresh: Grads) -> dict[str, torch.Tensor | None]:
    held = gradients_held(model)
    return {
        name: torch.zeros_like(fresh[name]) if name in fresh and held[name] is None else held[name] for name in held
    }


def _live_reference(model: nn.Module, fresh: Grads) -> Grads:
    """A reference kept as "before" is the very tensor backward adds to: the difference is zero."""
    held = gradients_held(model)
    return {name: torch.zeros_like(g) if held[name] is not None else g for name, g in fresh.items()}


def _all_zeros(model: nn.Module, fresh: Grads) -> Grads:
    return {name: torch.zeros_like(gradient) for name, gradient in fresh.items()}


def _frozen_listed(model: nn.Module, fresh: Grads, value: bool) -> object:
    return {name: fresh.get(name, torch.zeros_like(p) if value else None) for name, p in model.named_parameters()}


def _unused_left_out(model: nn.Module, fresh: Grads) -> Grads:
    return {name: gradient for name, gradient in fresh.items() if _used(model, name)}


def _unused_none(model: nn.Module, fresh: Grads) -> object:
    return {name: gradient if _used(model, name) else None for name, gradient in fresh.items()}


def _not_averaged(case: Case) -> Answer:
    """The rows' gradients added up, or the gradient of the sum over all entries."""
    model, fresh = _fresh(case)
    _, _, y = model_and_batch(case)
    sums = tuple({name: factor * g for name, g in fresh.items()} for factor in (len(y), y.numel()))
    return Answer(OneOf(sums), {".grad after the call": gradients_held(model)})


def _tied_twice(model: nn.Module, fresh: Grads) -> Grads:
    names = {id(p): name for name, p in model.named_parameters()}
    everything = model.named_parameters(remove_duplicate=False)
    return {name: fresh[names[id(p)]] for name, p in everything if p.requires_grad}


# ------------------------------------------------------------------ 1.4


def _walk(
    case: Case,
    direction: Callable[[torch.Tensor, list[torch.Tensor]], torch.Tensor],
    steps: int | None = None,
) -> list[torch.Tensor]:
    """Points of `x <- x - lr * direction(gradient, earlier gradients)`."""
    f, x = FUNCTIONS[case.spec["f"]], point(case)
    points, gradients = [x], []
    for _ in range(case.spec["steps"] if steps is None else steps):
        leaf = points[-1].detach().clone().requires_grad_()
        gradients.append(torch.autograd.grad(f(leaf), leaf)[0])
        points.append(points[-1] - case.spec["lr"] * direction(gradients[-1], gradients))
    return points


def _plain(gradient: torch.Tensor, earlier: list[torch.Tensor]) -> torch.Tensor:
    return gradient


def _descent(case: Case) -> Answer:
    return Answer(_walk(case, _plain))


def _one_tensor_many_times(case: Case) -> Answer:
    """The last point at every position, or at every one but the first."""
    points = _walk(case, _plain)
    last = [points[-1]] * len(points)
    return Answer(OneOf((last, [points[0], *last[1:]])))


def _gradients_along(case: Case) -> Answer:
    """The gradient at each point in place of the point, with or without the last one, or after x0."""
    points, f = _walk(case, _plain), FUNCTIONS[case.spec["f"]]
    leaves = [item.detach().clone().requires_grad_() for item in points]
    slopes = [torch.autograd.grad(f(leaf), leaf)[0] for leaf in leaves]
    return Answer(OneOf((slopes, slopes[:-1], [points[0], *slopes[:-1]])))


def _values_along(case: Case) -> Answer:
    """f at each point, as tensors or numbers, with or without the last one."""
    f = FUNCTIONS[case.spec["f"]]
    values = [f(item) for item in _walk(case, _plain)]
    numbers = [value.item() for value in values]
    return Answer(OneOf((values, values[:-1], numbers, numbers[:-1])))


def _points_rule(case: Case, evidence: Evidence) -> Broken | None:
    points = evidence.result if isinstance(evidence.result, list) else []
    with_graph = [index for index, item in enumerate(points) if item.has_graph]
    if with_graph:
        return Broken("points-with-graph", f"points with a graph (grad_fn): positions {with_graph[:6]}")
    different = evidence.facts.get("different tensors")
    if different != len(points):
        return Broken("same-tensor-in-list", f"{len(points)} points in {different} different tensors")
    return None


# ------------------------------------------------------------------ 1.5


def _two_layer(case: Case) -> Answer:
    inputs = two_layer_inputs(case)
    weights = {name: inputs[name].requires_grad_() for name in ("W1", "b1", "W2", "b2")}
    hidden = torch.tanh(inputs["x"] @ weights["W1"] + weights["b1"])
    loss = mean_square_error(hidden @ weights["W2"] + weights["b2"], inputs["y"])
    found = torch.autograd.grad(loss, list(weights.values()))
    return Answer(dict(zip(weights, found, strict=True)))


def _by_hand(
    slope: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda pre, hidden: 1 - hidden**2,
    into_w2: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda pre, hidden: hidden,
    bias: Callable[[torch.Tensor], object] = lambda signal: signal.sum(0),
    transposed: bool = False,
    slope_into: tuple[str, ...] = ("W1", "b1"),
    squash: Callable[[torch.Tensor], torch.Tensor] = torch.tanh,
    residual: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda output, target: output - target,
) -> Callable[[Case], Answer]:
    """The hand derivation with one link replaced."""

    def gives(case: Case) -> Answer:
        i = two_layer_inputs(case)
        pre = i["x"] @ i["W1"] + i["b1"]
        hidden = squash(pre)
        output = hidden @ i["W2"] + i["b2"]
        signal = 2 * residual(output, i["y"]) / output.numel()
        at_hidden = signal @ i["W2"].T
        back = at_hidden * slope(pre, hidden)
        into_w1, into_b1 = (back if name in slope_into else at_hidden for name in ("W1", "b1"))
        w1, w2 = i["x"].T @ into_w1, into_w2(pre, hidden).T @ signal
        if transposed:
            w1, w2 = w1.T, w2.T
        return Answer({"W1": w1, "b1": bias(into_b1), "W2": w2, "b2": bias(signal)})

    return gives


ORACLES = {
    "1.1": Oracle(
        answer=_central,
        tolerance=_tolerance_1_1,
        misconceptions={
            "forward-difference": lambda case: _probe(case, {1: 1, 0: -1}),
            "backward-difference": lambda case: _probe(case, {0: 1, -1: -1}),
            "divided-by-h": lambda case: _probe(case, {1: 1, -1: -1}),
            "multiplied-by-h": _times(lambda c: c.spec.get("h", 1e-5) ** 2, _central),
            "not-divided": lambda case: _times(lambda c: 2 * c.spec.get("h", 1e-5), _central)(case),
            "moved-all-entries": _all_at_once,
            "perturbation-left-behind": _left_behind,
            "moved-whole-rows": _whole_rows,
            "counted-rows-for-entries": _first_entries_alone,
            "reshape-made-a-copy": _copy_by_reshape,
            "assignment-is-no-copy": _one_tensor_two_names,
            "five-point-stencil": _five_points,
            "ignored-h": lambda case: _probe(case, {1: 1, -1: -1}, 2, h=1e-5),
            "derivative-not-difference": _derivative,
            "gradient-sign-flipped": _times(lambda case: -1, _central),
        },
        errors=(
            ("RuntimeError", "view size is not compatible", "view-of-non-contiguous"),
            ("RuntimeError", "does not require grad|does not have a grad_fn", "derivative-not-difference"),
            ("RuntimeError", "appears to not have been used in the graph", "derivative-not-difference"),
            ("IndexError|TypeError", "0-d tensor|dimension|invalid index of a 0-dim", "assumed-a-vector"),
        ),
    ),
    "1.2": Oracle(
        answer=_linear,
        rules=no_autograd,
        misconceptions={
            "missing-factor-two": _times(lambda case: 0.5, _linear),
            "loss-not-averaged": _times(lambda case: case.spec["n"], _linear),
            "gradient-sign-flipped": _times(lambda case: -1, _linear),
            "averaged-over-features": lambda case: _times(lambda c: c.spec["n"] * _features(c), _linear)(case),
            "averaged-over-all-entries": lambda case: _times(_features, _linear)(case),
            "averaged-twice": _times(lambda case: 1 / case.spec["n"], _linear),
            "rows-not-summed": _per_row,
            "prediction-for-residual": _prediction_for_residual,
            "loss-for-gradient": _loss_value,
            "chain-rule-cut-short": _residual_alone,
            "broadcast-to-matrix": _broadcast_to_matrix,
        },
    ),
    "1.3": Oracle(
        answer=_answer_1_3(_this_batch, _held),
        misconceptions={
            "added-to-old-gradients": _answer_1_3(_added_or_zeros, _added),
            "gradients-left-behind": _answer_1_3(_this_batch, _left),
            "caller-gradients-cleared": _answer_1_3(_this_batch, lambda model, fresh: _nothing(model)),
            "caller-gradients-zeroed": _answer_1_3(_this_batch, _zeros_after),
            "none-became-zeros": _answer_1_3(_this_batch, _none_became_zeros),
            "kept-a-reference": _answer_1_3(_live_reference, _added),
            "returned-live-grad": _answer_1_3(_all_zeros, _zeros_after),
            "frozen-parameter-listed": _answer_1_3(lambda m, g: _frozen_listed(m, g, True), _held),
            "unused-parameter-missing": _answer_1_3(_unused_left_out, _held),
            "unused-parameter-none": _answer_1_3(_unused_none, _held),
            "tied-parameter-twice": _answer_1_3(_tied_twice, _held),
            "loss-not-averaged": _not_averaged,
        },
        errors=(
            ("RuntimeError", "appears to not have been used in the graph", "unused-parameter-missing"),
            ("RuntimeError", "One of the differentiated Tensors does not require grad", "frozen-parameter-listed"),
        ),
    ),
    "1.4": Oracle(
        answer=_descent,
        rules=_points_rule,
        misconceptions={
            "same-tensor-in-list": _one_tensor_many_times,
            "walked-uphill": lambda case: Answer(_walk(case, lambda g, _: -g)),
            "start-left-out": lambda case: Answer(_walk(case, _plain)[1:]),
            "end-left-out": lambda case: Answer(_walk(case, _plain)[:-1]),
            "one-step-too-many": lambda case: Answer(_walk(case, _plain, case.spec["steps"] + 1)),
            "old-gradients-added": lambda case: Answer(_walk(case, lambda _, seen: torch.stack(seen).sum(0))),
            "gradient-of-the-start": lambda case: Answer(_walk(case, lambda _, seen: seen[0])),
            "fixed-step-length": lambda case: Answer(_walk(case, lambda g, _: g / g.norm())),
            "sign-of-gradient": lambda case: Answer(_walk(case, lambda g, _: g.sign())),
            "learning-rate-ignored": lambda case: Answer(_walk(case, lambda g, _: g / case.spec["lr"])),
            "last-point-alone": lambda case: Answer(_walk(case, _plain)[-1]),
            "gradients-for-points": _gradients_along,
            "values-for-points": _values_along,
        },
    ),
    "1.5": Oracle(
        answer=_two_layer,
        rules=no_autograd,
        misconceptions={
            "missing-factor-two": _times(lambda case: 0.5, _two_layer),
            "loss-not-averaged": _times(lambda case: case.spec["n"] * case.spec["k"], _two_layer),
            "averaged-over-rows-only": _times(lambda case: case.spec["k"], _two_layer),
            "gradient-sign-flipped": _times(lambda case: -1, _two_layer),
            "averaged-twice": _either(
                _times(lambda case: 1 / case.spec["n"], _two_layer),
                _times(lambda case: 1 / (case.spec["n"] * case.spec["k"]), _two_layer),
            ),
            "activation-derivative-missing": _either(
                *(_by_hand(slope_into=kept) for kept in ((), ("W1",), ("b1",))),
            ),
            "slope-without-square": _by_hand(slope=lambda pre, hidden: 1 - hidden),
            "activation-left-out": _by_hand(slope=lambda pre, hidden: torch.ones_like(pre), squash=lambda pre: pre),
            "slope-from-input": _by_hand(slope=lambda pre, hidden: 1 - pre**2),
            "tanh-taken-twice": _by_hand(slope=lambda pre, hidden: 1 - torch.tanh(hidden) ** 2),
            "sigmoid-slope": _by_hand(slope=lambda pre, hidden: hidden * (1 - hidden)),
            "hidden-before-activation": _by_hand(into_w2=lambda pre, hidden: pre),
            "rows-not-summed": _by_hand(bias=lambda signal: signal),
            # One of the two biases may be right: an attempt with both right never comes this far.
            "bias-averaged": _by_hand(bias=lambda signal: OneOf((signal.mean(0), signal.sum(0)))),
            "transposed-gradients": _by_hand(transposed=True),
            "prediction-for-residual": _by_hand(residual=lambda output, target: output),
        },
    ),
}
