"""Lesson 2: right answers, and what each misconception would answer on the same case."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import nn

from course_utils.exercise import Case, Evidence
from course_utils.lessons.inputs import gradients_held, model_and_batch
from course_utils.lessons.lesson2 import (
    LOSSES,
    REFUSED,
    deliver,
    grad_after,
    later_gradient,
    ledger_inputs,
    loss_2_5,
    parameter_2_1,
    reduced,
    residual,
    samples,
    shared_inputs,
)
from course_utils.oracles.oracle import Answer, Broken, OneOf, Oracle
from course_utils.plain import Plain, TensorData

Held = dict[str, torch.Tensor | None]
GRAD = ".grad after the call"


def _cleared(like: torch.Tensor) -> OneOf:
    """Both ways of being cleared."""
    return OneOf((None, torch.zeros_like(like)))


def _hooks_rule(case: Case, evidence: Evidence) -> Broken | None:
    left = evidence.facts["hooks left"]
    return Broken("hooks-left-behind", f"hooks registered by the call and still there: {left}") if left else None


# ------------------------------------------------------------------ 2.1


def _single(case: Case) -> torch.Tensor:
    """The gradient of one backward."""
    param = parameter_2_1(case)
    return torch.autograd.grad(LOSSES[case.spec["loss"]](param), param)[0]


def _old_2_1(case: Case) -> torch.Tensor | None:
    grad = parameter_2_1(case).grad
    return None if grad is None else grad.clone()


def _snapshots(case: Case) -> Answer:
    g, n = _single(case), case.spec["n"]
    return Answer([k * g for k in range(1, n + 1)], {GRAD: n * g if n else _cleared(g)})


def _later(case: Case, total: torch.Tensor) -> torch.Tensor:
    """`.grad` as a reference to it shows it once the check has added to it."""
    return total + later_gradient(case)


def _all_live(case: Case) -> Answer:
    g, n = _single(case), case.spec["n"]
    # `.detach()` and the bare tensor follow the last write alike.
    return Answer([_later(case, n * g)] * n)


def _last_live(case: Case) -> Answer:
    g, n = _single(case), case.spec["n"]
    own = [k * g for k in range(1, n)]
    return Answer(own + [_later(case, n * g)] if n else [])


def _on_top_of_old(case: Case) -> Answer:
    g, n, old = _single(case), case.spec["n"], _old_2_1(case)
    start = torch.zeros_like(g) if old is None else old
    after = old if n == 0 else start + n * g
    return Answer([start + k * g for k in range(1, n + 1)], {GRAD: after})


def _cleared_each_round(case: Case) -> Answer:
    g, n = _single(case), case.spec["n"]
    return Answer([g] * n, {GRAD: g if n else _cleared(g)})


def _increments(case: Case) -> Answer:
    return Answer([_single(case)] * case.spec["n"])


def _with_grad(after: Callable[[Case], object]) -> Callable[[Case], Answer]:
    """The right snapshots with another `.grad` at the end."""
    return lambda case: Answer(_snapshots(case).result, {GRAD: after(case)})


def _before_backward(case: Case) -> Answer:
    g, n = _single(case), case.spec["n"]
    return Answer([_cleared(g), *(k * g for k in range(1, n))] if n else [])


def _scaled_2_1(factor: Callable[[Case], float]) -> Callable[[Case], Answer]:
    return lambda case: Answer([k * factor(case) * _single(case) for k in range(1, case.spec["n"] + 1)])


def _doubling(case: Case) -> Answer:
    """The running sum of the losses goes backward each time: 1, then 1 + 2, then 1 + 2 + 3 gradients."""
    g, n = _single(case), case.spec["n"]
    return Answer([k * (k + 1) / 2 * g for k in range(1, n + 1)])


def _one_too_many(case: Case) -> Answer:
    g, n = _single(case), case.spec["n"]
    return Answer([k * g for k in range(1, n + 2)])


# ------------------------------------------------------------------ 2.2


def _accumulated(case: Case) -> Answer:
    param, incoming = ledger_inputs(case)
    held = param.grad
    if case.spec.get("refused"):
        return Answer(None, {"a wrong shape": REFUSED, grad_after(case, 0): held})
    facts: dict[str, object] = {}
    for index, values in enumerate(incoming):
        held = values if held is None else held + values
        facts[grad_after(case, index)] = held
    return Answer(None, facts)


Accumulate = Callable[[torch.Tensor, torch.Tensor], object]


def _replayed(accumulate: Accumulate, returns: bool = False) -> Callable[[Case], Answer | None]:
    """What a wrong `accumulate_grad` leaves; None on a case that it does not get through."""

    def gives(case: Case) -> Answer | None:
        try:
            result, seen = deliver(case, accumulate)
        except (RuntimeError, TypeError):
            return None
        kept = ("a wrong shape", *(key for key in seen if key.startswith(".grad")))
        return Answer(result if returns else None, {key: seen[key] for key in kept})

    return gives


def _checked(param: torch.Tensor, incoming: torch.Tensor) -> None:
    if incoming.shape != param.shape:
        raise ValueError


def _by_reference(param: torch.Tensor, incoming: torch.Tensor) -> None:
    _checked(param, incoming)
    if param.grad is None:
        param.grad = incoming
    else:
        param.grad.add_(incoming)


def _always_replaced(param: torch.Tensor, incoming: torch.Tensor) -> None:
    _checked(param, incoming)
    param.grad = incoming.clone()


def _replaced_by_reference(param: torch.Tensor, incoming: torch.Tensor) -> None:
    _checked(param, incoming)
    param.grad = incoming


def _broadcast(param: torch.Tensor, incoming: torch.Tensor) -> None:
    old = torch.zeros_like(param) if param.grad is None else param.grad
    param.grad = old.detach().clone().add_(incoming)


def _fitted(param: torch.Tensor, incoming: torch.Tensor) -> None:
    if incoming.numel() != param.numel():
        raise ValueError
    _broadcast(param, incoming.reshape(param.shape))


def _changed_then_checked(param: torch.Tensor, incoming: torch.Tensor) -> None:
    _broadcast(param, incoming)
    _checked(param, incoming)


def _zeros_then_checked(param: torch.Tensor, incoming: torch.Tensor) -> None:
    if param.grad is None:
        param.grad = torch.zeros_like(param)
    _checked(param, incoming)
    param.grad.add_(incoming)


def _silent(param: torch.Tensor, incoming: torch.Tensor) -> None:
    if incoming.shape == param.shape:
        _broadcast(param, incoming)


def _untouched(param: torch.Tensor, incoming: torch.Tensor) -> None:
    _checked(param, incoming)


def _first_alone(param: torch.Tensor, incoming: torch.Tensor) -> None:
    _checked(param, incoming)
    if param.grad is None:
        param.grad = incoming.clone()


def _subtracted(param: torch.Tensor, incoming: torch.Tensor) -> None:
    _checked(param, incoming)
    param.grad = incoming.clone() if param.grad is None else param.grad - incoming


def _averaged(param: torch.Tensor, incoming: torch.Tensor) -> None:
    _checked(param, incoming)
    param.grad = incoming.clone() if param.grad is None else (param.grad + incoming) / 2


def _twice(param: torch.Tensor, incoming: torch.Tensor) -> None:
    _checked(param, incoming)
    param.grad = (incoming if param.grad is None else param.grad + incoming) + incoming


def _returned(param: torch.Tensor, incoming: torch.Tensor) -> torch.Tensor | None:
    _checked(param, incoming)
    _broadcast(param, incoming)
    return None if param.grad is None else param.grad.clone()


def _in_place_rule(case: Case, evidence: Evidence) -> Broken | None:
    if False in evidence.facts["same tensor"]:
        return Broken("new-tensor-in-grad", "after the call .grad is another tensor than before it")
    if False in evidence.facts["same memory"]:
        return Broken("new-tensor-in-grad", "after the call .grad lies in other memory than before it")
    return None


# ------------------------------------------------------------------ 2.3


def _leaves(case: Case) -> list[torch.Tensor]:
    """What each use contributes: every use gets a leaf of its own."""
    w, x = shared_inputs(case)
    leaves = [w.detach().clone().requires_grad_() for _ in range(case.spec["depth"])]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    return list(torch.autograd.grad(h.sum(), leaves))


def _so_far(case: Case) -> Answer:
    """The gradient of each h in turn with respect to the one w: all uses up to there, in one number."""
    w, x = shared_inputs(case)
    leaf, h = w.detach().clone().requires_grad_(), x.detach()
    found = []
    for _ in range(case.spec["depth"]):
        h = torch.tanh(leaf * h)
        found.append(torch.autograd.grad(h.sum(), leaf, retain_graph=True)[0])
    # As total: the last of them, which is right, or their sum, which is not.
    return Answer([found, OneOf((found[-1], torch.stack(found).sum(0)))])


def _pair(contributions: Sequence[torch.Tensor]) -> Answer:
    return Answer([list(contributions), torch.stack(list(contributions)).sum(0)])


def _uses(change: Callable[[list[torch.Tensor]], object]) -> Callable[[Case], Answer]:
    return lambda case: Answer(change(_leaves(case)))


def _total(contributions: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.stack(list(contributions)).sum(0)


def _chain(
    slope: Callable[[torch.Tensor], torch.Tensor] = lambda h: 1 - h**2,
    carry: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda passed, w: passed * w,
    own_output: bool = False,
    reduce: bool = True,
) -> Callable[[Case], Answer]:
    """The derivation by hand, last use first, with one link replaced."""

    def gives(case: Case) -> Answer:
        w, x = (tensor.detach() for tensor in shared_inputs(case))
        hidden = [x]
        for _ in range(case.spec["depth"]):
            hidden.append(torch.tanh(w * hidden[-1]))
        signal, found = torch.ones_like(x), []
        for before, after in zip(reversed(hidden[:-1]), reversed(hidden[1:]), strict=True):
            passed = signal * slope(after)
            one = passed * (after if own_output else before)
            found.append(one.sum() if reduce and w.ndim == 0 else one)
            signal = carry(passed, w)
        return _pair(found[::-1])

    return gives


def _mean_for_sum(case: Case) -> Answer:
    entries = shared_inputs(case)[1].numel()
    return _pair([g / entries for g in _leaves(case)])


def _on_top_of_w_grad(case: Case) -> Answer:
    contributions, old = _leaves(case), shared_inputs(case)[0].grad
    total = _total(contributions)
    return Answer([contributions, total if old is None else old + total])


def _running(found: list[torch.Tensor]) -> object:
    forward = list(torch.stack(found).cumsum(0))
    backward = list(torch.stack(found[::-1]).cumsum(0))
    return [OneOf((forward, backward, backward[::-1])), _total(found)]


def _same_leaf(found: list[torch.Tensor]) -> object:
    total = _total(found)
    return [[total] * len(found), OneOf((total * len(found), total))]


def _cut_between(found: list[torch.Tensor]) -> object:
    zero = _cleared(found[-1])
    return [[*([zero] * (len(found) - 1)), found[-1]], found[-1]]


def _unstacked(case: Case, result: Plain) -> Plain:
    """Contributions stacked in one tensor, as a list."""
    if not isinstance(result, list) or len(result) != 2 or not isinstance(result[0], TensorData):
        return result
    stacked = result[0]
    w = shared_inputs(case)[0]
    if stacked.value.ndim != w.ndim + 1:
        return result
    rows = [TensorData(row, stacked.device, stacked.requires_grad, stacked.has_graph) for row in stacked.value]
    return [rows, result[1]]


# ------------------------------------------------------------------ 2.4


def _by_loss(case: Case) -> tuple[Held, list[dict[str, torch.Tensor]]]:
    """`.grad` as it was, and each loss's own gradients by name: trainable parameters, zeros where unused."""
    model, _, _ = model_and_batch(case)
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    found = []
    for index in range(len(case.spec["weights"])):
        loss = reduced(index, residual(case, model, index))
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        found.append(dict(zip(named, grads, strict=True)))
    return gradients_held(model), found


def _combined(case: Case, weights: Sequence[float], start: bool = False) -> Answer:
    """`.grad` as the sum of `weights[i]` times the gradient of loss i, on top of the earlier ones if `start`."""
    held, found = _by_loss(case)
    after: dict[str, object] = dict.fromkeys(held)
    for name in found[0]:
        total = torch.stack([w * grads[name] for w, grads in zip(weights, found, strict=True)]).sum(0)
        old = held[name] if start else None
        total = total if old is None else total + old
        # A parameter that nothing reaches may be None.
        after[name] = _cleared(total) if not bool(total.any()) else total
    return Answer(None, {GRAD: after})


def _weighted(change: Callable[[list[float]], Sequence[float]], start: bool = False) -> Callable[[Case], Answer]:
    return lambda case: _combined(case, change(list(case.spec["weights"])), start)


def _same(weights: list[float]) -> list[float]:
    return weights


def _last_alone(weights: list[float]) -> list[float]:
    return [0.0] * (len(weights) - 1) + weights[-1:]


def _scaled_after(weights: list[float]) -> list[float]:
    """Each weight multiplies what `.grad` holds by then, the earlier losses included."""
    return [float(torch.tensor(weights[index:], dtype=torch.float64).prod()) for index in range(len(weights))]


def _sum_each_time(weights: list[float]) -> list[float]:
    """The running sum goes backward each time: loss i is counted in every round from i on."""
    return [weight * (len(weights) - index) for index, weight in enumerate(weights)]


def _held_2_4(case: Case) -> Answer:
    return Answer(None, {GRAD: dict(_by_loss(case)[0])})


def _all_cleared(case: Case) -> Answer:
    held, found = _by_loss(case)
    after: dict[str, object] = {name: _cleared(found[0][name]) if name in found[0] else None for name in held}
    return Answer(None, {GRAD: after})


def _unused_kept_old(case: Case) -> Answer:
    """Cleared through what the losses reach: the layer none of them uses keeps its earlier gradient."""
    held, found = _by_loss(case)
    after = dict(_combined(case, case.spec["weights"]).facts[GRAD])  # type: ignore[call-overload]
    for name in found[0]:
        if not any(bool(grads[name].any()) for grads in found):
            after[name] = held[name]
    return Answer(None, {GRAD: after})


def _frozen_zeros(case: Case) -> Answer | None:
    """Clearing by fresh zeros for every parameter, the frozen ones included."""
    held, found = _by_loss(case)
    after = dict(_combined(case, case.spec["weights"]).facts[GRAD])  # type: ignore[call-overload]
    model, _, _ = model_and_batch(case)
    after.update({name: torch.zeros_like(p) for name, p in model.named_parameters() if name not in found[0]})
    return Answer(None, {GRAD: after}) if len(found[0]) < len(held) else None


def _graphs_rule(case: Case, evidence: Evidence) -> Broken | None:
    calls, alive = evidence.facts["calls of each loss"], evidence.facts["earlier graphs alive at each call"]
    for index, weight in enumerate(case.spec["weights"]):
        if calls[index] > 1 or (calls[index] == 0 and weight):
            return Broken("loss-not-called-once", f"calls of each loss: {calls}")
    if any(alive):
        return Broken("graphs-kept-alive", f"earlier graphs still alive when each loss was called: {alive}")
    return None


# ------------------------------------------------------------------ 2.5

Rows = dict[str, torch.Tensor]


def _rows(case: Case) -> tuple[nn.Module, Rows]:
    """The model of the case, and {name: (n, *shape)}, zeros where unused."""
    model, x, y = samples(case)
    loss_fn = loss_2_5(case)
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    rows: dict[str, list[torch.Tensor]] = {name: [] for name in named}
    for index in range(len(x)):
        loss = loss_fn(model(x[index : index + 1]), y[index : index + 1])
        found = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for name, gradient in zip(named, found, strict=True):
            rows[name].append(gradient)
    return model, {name: torch.stack(gradients) for name, gradients in rows.items()}


def _right_rows(case: Case) -> Answer:
    model, rows = _rows(case)
    return Answer(rows, {GRAD: gradients_held(model)})


def _each(change: Callable[[torch.Tensor], object]) -> Callable[[Case], Answer]:
    """Every entry changed in the same way, whatever is left in `.grad`."""
    return lambda case: Answer({name: change(rows) for name, rows in _rows(case)[1].items()})


def _used(name: str) -> bool:
    return not name.startswith("unused.")


def _left_last_or_sum(case: Case) -> Answer:
    """`.grad` holds the last sample's gradient, or the sum of all, with or without the caller's."""
    model, rows = _rows(case)
    held, after = gradients_held(model), {}
    for name, _ in model.named_parameters():
        old = held[name]
        if name not in rows or not _used(name):
            after[name] = OneOf((None, old, *([torch.zeros_like(rows[name][0])] if name in rows else [])))
            continue
        options: list[object] = [rows[name][-1], rows[name].sum(0), rows[name].mean(0)]
        options += [] if old is None else [old + left for left in options]  # type: ignore[operator]
        after[name] = OneOf(tuple(options))
    return Answer(rows, {GRAD: after})


def _grad_cleared(case: Case) -> Answer:
    model, rows = _rows(case)
    return Answer(rows, {GRAD: {name: None for name, _ in model.named_parameters()}})


def _grad_zeroed(case: Case) -> Answer:
    """Zeros where something had been, by the end of the loop."""
    model, rows = _rows(case)
    held = gradients_held(model)
    after = {name: torch.zeros_like(rows[name][0]) if name in rows else None for name in held}
    unused = {name: OneOf((None, after[name])) for name in held if not _used(name)}
    return Answer(rows, {GRAD: {**after, **unused}})


def _none_became_zeros(case: Case) -> Answer:
    model, rows = _rows(case)
    held = gradients_held(model)
    return Answer(
        rows,
        {GRAD: {n: torch.zeros_like(rows[n][0]) if g is None and n in rows else g for n, g in held.items()}},
    )


def _running_rows(case: Case) -> Answer:
    """Nothing is cleared between the samples; the caller's gradients may lie underneath."""
    model, rows = _rows(case)
    held, result = gradients_held(model), {}
    for name, found in rows.items():
        total, old = found.cumsum(0), held[name]
        result[name] = OneOf((total, total if old is None else total + old))
    return Answer(result)


def _on_top_of_old_rows(case: Case) -> Answer:
    """Each row lies on top of the caller's gradient."""
    model, rows = _rows(case)
    held = gradients_held(model)
    return Answer({n: r if held[n] is None else r + held[n] for n, r in rows.items()})  # type: ignore[operator]


def _live_rows(case: Case) -> Answer:
    """Every row is the one tensor in `.grad`: the sum of all samples, the caller's gradients perhaps included."""
    model, rows = _rows(case)
    held, result = gradients_held(model), {}
    for name, found in rows.items():
        total, old = found.sum(0).expand_as(found), held[name]
        result[name] = OneOf((total, total if old is None else total + old))
    return Answer(result)


def _zeroed_live_rows(case: Case) -> Answer:
    """Every row is the one tensor in `.grad`, zeroed in place each round."""
    rows = _rows(case)[1]
    return Answer({n: OneOf((found[-1].expand_as(found), torch.zeros_like(found))) for n, found in rows.items()})


def _one_dict_a_sample(case: Case) -> Answer:
    rows = _rows(case)[1]
    count = len(next(iter(rows.values())))
    return Answer([{name: found[index] for name, found in rows.items()} for index in range(count)])


def _listed_frozen(case: Case) -> Answer:
    model, rows = _rows(case)
    count = len(next(iter(rows.values())))
    zeros = {n: torch.zeros(count, *p.shape, dtype=p.dtype, device=p.device) for n, p in model.named_parameters()}
    everything = {n: rows[n] if n in rows else OneOf((zeros[n], None)) for n in zeros}
    return Answer(everything)


def _tied_listed_twice(case: Case) -> Answer:
    model, rows = _rows(case)
    names = {id(p): name for name, p in model.named_parameters()}
    everything = model.named_parameters(remove_duplicate=False)
    return Answer({name: rows[names[id(p)]] for name, p in everything if p.requires_grad})


ORACLES = {
    "2.1": Oracle(
        answer=_snapshots,
        rules=_hooks_rule,
        misconceptions={
            "same-live-grad": _all_live,
            "last-snapshot-is-live": _last_live,
            "started-from-old-gradients": _on_top_of_old,
            "cleared-between-backwards": _cleared_each_round,
            "increments-for-snapshots": _increments,
            "cleared-at-the-end": _with_grad(lambda case: _cleared(_single(case))),
            "old-gradient-put-back": _with_grad(_old_2_1),
            "one-backward-multiplied": _with_grad(lambda c: _single(c) if c.spec["n"] else _cleared(_single(c))),
            "snapshot-before-backward": _before_backward,
            "loss-divided-by-n": _scaled_2_1(lambda case: 1 / max(case.spec["n"], 1)),
            "running-sum-backward": _doubling,
            "one-backward-too-many": _one_too_many,
            "last-snapshot-alone": lambda c: Answer(c.spec["n"] * _single(c)) if c.spec["n"] else None,
            "values-for-gradients": lambda c: Answer([parameter_2_1(c).detach()] * c.spec["n"]),
        },
    ),
    "2.2": Oracle(
        answer=_accumulated,
        rules=_in_place_rule,
        misconceptions={
            "returned-the-gradient": _replayed(_returned, returns=True),
            "incoming-kept-by-reference": _replayed(_by_reference),
            "replaced-not-added": _replayed(_always_replaced),
            "replaced-by-reference": _replayed(_replaced_by_reference),
            "broadcast-into-grad": _replayed(_broadcast),
            "reshaped-to-fit": _replayed(_fitted),
            "changed-before-check": _replayed(_changed_then_checked),
            "zeros-before-check": _replayed(_zeros_then_checked),
            "wrong-shape-ignored": _replayed(_silent),
            "grad-left-untouched": _replayed(_untouched),
            "first-gradient-alone": _replayed(_first_alone),
            "gradient-sign-flipped": _replayed(_subtracted),
            "averaged-with-old": _replayed(_averaged),
            "counted-twice": _replayed(_twice),
        },
        errors=(
            (
                "RuntimeError",
                "attempting to assign a gradient of size|assigned grad has data",
                "shape-error-from-torch",
            ),
            (
                "RuntimeError",
                "must match the size|doesn't match the broadcast|Mismatch in shape",
                "shape-error-from-torch",
            ),
            ("RuntimeError", "is invalid for input of size", "shape-error-from-torch"),
            ("AssertionError|RuntimeError|TypeError", "shape|size|^$", "another-exception"),
            ("RuntimeError", "Boolean value of Tensor", "truth-of-a-tensor"),
            ("RuntimeError", "a leaf Variable that requires grad", "added-to-the-parameter"),
            ("ValueError", "", "refused-a-right-shape"),
        ),
    ),
    "2.3": Oracle(
        answer=lambda case: _pair(_leaves(case)),
        normalise=_unstacked,
        misconceptions={
            "last-use-first": _uses(lambda found: [found[::-1], _total(found)]),
            "uses-cut-apart": _uses(_cut_between),
            "local-derivative-alone": _chain(carry=lambda passed, w: torch.ones_like(passed)),
            "activation-derivative-missing": _chain(slope=torch.ones_like),
            "weight-left-out-of-chain": _chain(carry=lambda passed, w: passed),
            "output-for-input": _chain(own_output=True),
            "mean-for-sum": _mean_for_sum,
            "uses-not-reduced": _chain(reduce=False),
            "same-leaf-for-every-use": _uses(_same_leaf),
            "total-shared-evenly": _uses(lambda found: [[_total(found) / len(found)] * len(found), _total(found)]),
            "running-totals": _uses(_running),
            "whole-chain-so-far": _so_far,
            "uses-averaged": _uses(lambda found: [found, _total(found) / len(found)]),
            "one-use-for-total": _uses(lambda found: [found, OneOf((found[-1], found[0]))]),
            "started-from-old-gradients": _on_top_of_w_grad,
            "total-alone": _uses(_total),
            "contributions-alone": _uses(lambda found: OneOf((found, torch.stack(found)))),
            "pair-swapped": _uses(lambda found: [_total(found), OneOf((found, torch.stack(found)))]),
        },
        errors=(
            ("RuntimeError", "appears to not have been used in the graph", "uses-cut-apart"),
            ("RuntimeError", "One of the differentiated Tensors does not require grad", "no-graph"),
            ("RuntimeError", "modified by an inplace operation", "overwrote-saved-value"),
        ),
    ),
    "2.4": Oracle(
        answer=_weighted(_same),
        normalise=lambda case, result: None,
        rules=_graphs_rule,
        misconceptions={
            "started-from-old-gradients": _weighted(_same, start=True),
            "cleared-between-backwards": _weighted(_last_alone),
            "weights-ignored": _weighted(lambda weights: [1.0] * len(weights)),
            "averaged-over-losses": _weighted(lambda weights: [w / len(weights) for w in weights]),
            "weights-normalised": _weighted(lambda weights: [w / sum(weights) for w in weights]),
            "running-sum-backward": _weighted(_sum_each_time),
            "running-grad-scaled": _weighted(_scaled_after),
            "weighted-twice": _weighted(lambda weights: [w * w for w in weights]),
            "weight-sign-lost": _weighted(lambda weights: [abs(w) for w in weights]),
            "negative-weight-skipped": _weighted(lambda weights: [max(w, 0.0) for w in weights]),
            "cleared-at-the-end": _all_cleared,
            "grad-left-untouched": _held_2_4,
            "unused-kept-old-gradient": _unused_kept_old,
            "frozen-got-zeros": _frozen_zeros,
        },
        errors=(("AttributeError", "has no attribute 'backward'", "loss-not-called"),),
    ),
    "2.5": Oracle(
        answer=_right_rows,
        rules=_hooks_rule,
        misconceptions={
            "batch-gradient-for-samples": _each(lambda rows: OneOf((rows.mean(0), rows.sum(0)))),
            "batch-gradient-repeated": _each(lambda rows: rows.mean(0).expand_as(rows)),
            "rows-are-running-totals": _running_rows,
            "started-from-old-gradients": _on_top_of_old_rows,
            "same-live-grad": _live_rows,
            "rows-zeroed-afterwards": _zeroed_live_rows,
            "rows-divided-by-n": _each(lambda rows: rows / len(rows)),
            "samples-in-reverse": _each(lambda rows: rows.flip(0)),
            "sample-dimension-last": _each(lambda rows: rows.movedim(0, -1)),
            "rows-concatenated": _each(lambda rows: rows.flatten(0, 1) if rows.ndim > 1 else rows),
            "rows-in-a-list": _each(list),
            "extra-batch-dimension": _each(lambda rows: rows.unsqueeze(1)),
            "one-dict-per-sample": _one_dict_a_sample,
            "gradient-norms-for-gradients": _each(lambda rows: rows.flatten(1).norm(dim=1)),
            "gradients-left-behind": _left_last_or_sum,
            "caller-gradients-cleared": _grad_cleared,
            "caller-gradients-zeroed": _grad_zeroed,
            "none-became-zeros": _none_became_zeros,
            "frozen-parameter-listed": _listed_frozen,
            "unused-parameter-missing": lambda c: Answer({n: r for n, r in _rows(c)[1].items() if _used(n)}),
            "unused-parameter-none": lambda c: Answer({n: r if _used(n) else None for n, r in _rows(c)[1].items()}),
            "tied-parameter-twice": _tied_listed_twice,
        },
        errors=(
            ("RuntimeError", "appears to not have been used in the graph", "unused-parameter-missing"),
            ("RuntimeError", "One of the differentiated Tensors does not require grad", "frozen-parameter-listed"),
            ("IndexError", "Dimension out of range", "sample-without-batch-dimension"),
            ("ValueError", "expected 2D or 3D input", "sample-without-batch-dimension"),
            ("TypeError", "expected Tensor as element 0 in argument 0, but got NoneType", "unused-parameter-missing"),
        ),
    ),
}
