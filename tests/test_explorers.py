"""The explorers compute with PyTorch what they show, and what they show is useful with and without a front end."""

from __future__ import annotations

import importlib.util
import itertools
import math
import re
import struct
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.widgets import (
    expression_graph,
    gradient_buffer,
    loss_surface,
    order_of_events,
    page,
    underflow_line,
    windows_of_training,
)
from course_utils.widgets.explorers import (
    buffer,
    buffer_view,
    expression,
    expression_view,
    numbers,
    order,
    order_view,
    surface,
    surface_view,
    underflow,
    underflow_view,
    windows,
    windows_view,
)

pytestmark = pytest.mark.turns

PROBLEM = surface.line_fit()
LANDSCAPE = surface.landscape(PROBLEM)
START = (-0.6, 0.7)


@pytest.fixture(autouse=True)
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Sockets that tests before these left to the garbage collector are not the explorers'.
        warnings.simplefilter("ignore", ResourceWarning)
        yield


# The loss surface


def test_the_gradient_is_the_one_derived_by_hand() -> None:
    step = surface.descend(PROBLEM, START, 0.1)
    error = START[0] * PROBLEM.x + START[1] - PROBLEM.y
    by_hand = (float(2 * (error * PROBLEM.x).mean()), float(2 * error.mean()))
    assert step.gradient == pytest.approx(by_hand, rel=1e-12)
    assert step.loss == pytest.approx(float(error.square().mean()), rel=1e-12)


def test_the_step_is_minus_the_learning_rate_times_the_gradient() -> None:
    step = surface.descend(PROBLEM, START, 0.3)
    assert step.step == pytest.approx((-0.3 * step.gradient[0], -0.3 * step.gradient[1]), rel=1e-15)
    assert step.after == pytest.approx((START[0] + step.step[0], START[1] + step.step[1]), rel=1e-15)
    assert step.loss_after == surface.descend(PROBLEM, step.after, 0.3).loss


def test_a_small_step_along_the_gradient_goes_uphill_and_against_it_downhill() -> None:
    step = surface.descend(PROBLEM, START, 1e-3)
    uphill = surface.descend(PROBLEM, START, -1e-3)
    assert step.loss_after < step.loss < uphill.loss_after


def test_the_minimum_is_the_one_that_least_squares_finds() -> None:
    columns = torch.stack([PROBLEM.x, torch.ones_like(PROBLEM.x)], dim=1)
    best = torch.linalg.lstsq(columns, PROBLEM.y[:, None]).solution.flatten().tolist()
    assert LANDSCAPE.minimum == pytest.approx(tuple(best), rel=1e-10)
    assert LANDSCAPE.lowest == pytest.approx(surface.descend(PROBLEM, LANDSCAPE.minimum, 0.1).loss, rel=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_descent_converges_just_below_the_computed_limit_and_diverges_just_above(seed: int) -> None:
    problem = surface.line_fit(seed)
    ground = surface.landscape(problem)
    below = surface.path(problem, START, 0.98 * ground.limit, 600)
    above = surface.path(problem, START, 1.02 * ground.limit, 600)
    assert below[-1].loss_after - ground.lowest < 1e-6
    assert above[-1].loss_after > 1e3


def test_the_regimes_say_what_the_error_along_the_steepest_direction_really_does() -> None:
    low, curve = LANDSCAPE.minimum, LANDSCAPE.eigenvalues[1]
    columns = torch.stack([PROBLEM.x, torch.ones_like(PROBLEM.x)], dim=1)
    steepest = torch.linalg.eigh(2 * columns.T @ columns / len(PROBLEM.x)).eigenvectors[:, -1]
    assert LANDSCAPE.limit == pytest.approx(2 / curve)
    for share, expected in ((0.3, "shrinks"), (0.8, "swings"), (1.0, "stalls"), (1.2, "grows")):
        start = (low[0] + float(steepest[0]), low[1] + float(steepest[1]))
        after = surface.descend(PROBLEM, start, share * LANDSCAPE.limit).after
        factor = (after[0] - low[0]) * float(steepest[0]) + (after[1] - low[1]) * float(steepest[1])
        measured = (
            "shrinks"
            if 0 <= factor < 1
            else "stalls"
            if abs(factor + 1) < 1e-9
            else "swings"
            if factor > -1
            else "grows"
        )
        assert surface.regime(share * LANDSCAPE.limit, LANDSCAPE.limit) == measured == expected


@given(st.floats(min_value=1e-4, max_value=1e4))
@settings(max_examples=100, deadline=None)
def test_the_learning_rates_offered_reach_beyond_the_limit_in_round_steps(limit: float) -> None:
    largest, spacing = surface.learning_rates(limit)
    assert limit < 1.29 * limit <= largest <= 1.5 * limit
    assert 0 < spacing <= limit / 40
    assert f"{spacing:e}".startswith(("1.000000", "2.000000", "5.000000"))


def test_nothing_remains_of_the_steps_taken_after_a_reset() -> None:
    descent = surface.Descent(PROBLEM)
    start = descent.ahead(0.2)
    descent.step(0.2)
    descent.step(0.5)
    assert descent.point != descent.start and len(descent.taken) == 2
    descent.reset()
    assert descent.ahead(0.2) == start


@pytest.mark.parametrize("start", [(1.0,), (math.nan, 0.0), (1.0, math.inf)])
def test_a_start_that_is_no_point_is_refused(start: Any) -> None:
    with pytest.raises(ValueError, match="two finite numbers"):
        surface.Descent(PROBLEM, start)


@pytest.mark.parametrize("lr", [0.0, -0.1, math.inf, math.nan])
def test_a_learning_rate_that_is_none_is_refused(lr: float) -> None:
    with pytest.raises(ValueError, match="positive number"):
        loss_surface(lr=lr)


def test_data_that_fix_no_line_are_refused() -> None:
    with pytest.raises(ValueError, match="all x are equal"):
        surface.landscape(surface.LineFit(torch.ones(5).double(), torch.arange(5).double()))


# The expression graph


def traced_default() -> expression.Trace:
    return expression.trace(expression_view.DEFAULT, expression_view.DEFAULT_VALUES, expression_view.DEFAULT_GRADIENTS)


def test_the_nodes_are_those_of_the_autograd_graph_and_their_gradients_are_measured() -> None:
    found = {node.name: (node.operation, node.value, node.gradient) for node in traced_default().nodes}
    assert found == {
        "(w * x + b - y) ** 2": ("PowBackward0", 9.0, 1.0),
        "w * x + b - y": ("SubBackward0", 3.0, 6.0),
        "w * x + b": ("AddBackward0", 7.0, 6.0),
        "w * x": ("MulBackward0", 6.0, 6.0),
        "w": ("AccumulateGrad", 2.0, 18.0),
        "b": ("AccumulateGrad", 1.0, 6.0),
        "x": ("", 3.0, None),
        "y": ("", 4.0, None),
    }


EXPRESSIONS = [
    ("w*w + w", ("w",)),
    ("tanh(w*x)*w + exp(w)/b", ("w", "b")),
    ("-(w - b)**3 / (1 + x**2)", ("w", "b", "x")),
    ("log(sigmoid(w*x + b)) * relu(w) - sqrt(w)", ("w", "x", "b")),
    ("w**x", ("w", "x")),
    ("2*w", ("w",)),
]


def values_in(text: str) -> dict[str, float]:
    return {name: value for name, value in {"w": 0.7, "x": 1.3, "b": 2.1}.items() if re.search(rf"\b{name}\b", text)}


@pytest.mark.parametrize(("text", "names"), EXPRESSIONS)
def test_leaves_get_the_gradient_of_a_finite_difference(text: str, names: tuple[str, ...]) -> None:
    values = values_in(text)
    traced = expression.trace(text, values, names)
    functions = {
        name: lambda v, f=f: float(f(torch.tensor(v, dtype=torch.float64))) for name, f in expression.FUNCTIONS.items()
    }

    def loss(**changed: float) -> float:
        return float(eval(text, {"__builtins__": {}}, {**functions, **values, **changed}))

    leaves = {node.name: node.gradient for node in traced.nodes if node.kind == "leaf"}
    assert set(leaves) == set(names)
    for name, gradient in leaves.items():
        slope = (loss(**{name: values[name] + 1e-6}) - loss(**{name: values[name] - 1e-6})) / 2e-6
        assert gradient == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(("text", "names"), EXPRESSIONS)
def test_every_edge_sends_what_its_node_received_times_its_local_derivative(text: str, names: tuple[str, ...]) -> None:
    values = values_in(text)
    traced = expression.trace(text, values, names)
    end = expression.moment(traced, len(traced.order))
    for i, edge in enumerate(traced.edges):
        received = traced.nodes[edge.source].gradient
        constant = traced.nodes[edge.target].kind == "constant"
        assert (edge.sent is None) == (edge.local is None) == constant
        assert (i in end.used) == (not constant)
        if edge.sent is not None and edge.local is not None and received is not None:
            assert edge.sent == pytest.approx(received * edge.local, rel=1e-12, abs=1e-15)
    for node, arrived in zip(traced.nodes, end.arrived, strict=True):
        assert arrived == (None if node.gradient is None else pytest.approx(node.gradient, rel=1e-12))


@pytest.mark.parametrize(("text", "names"), EXPRESSIONS)
def test_a_node_is_visited_once_and_after_everything_that_uses_it(text: str, names: tuple[str, ...]) -> None:
    values = values_in(text)
    traced = expression.trace(text, values, names)
    visited = {node: place for place, node in enumerate(traced.order)}
    assert len(visited) == len(traced.order)
    assert set(visited) == {i for i, node in enumerate(traced.nodes) if node.kind != "constant"}
    assert all(visited[e.source] < visited[e.target] for e in traced.edges if e.target in visited)


def test_a_value_used_twice_is_one_node_whose_gradient_is_the_sum_of_what_both_edges_sent() -> None:
    traced = expression.trace("w*w", {"w": 3.0})
    assert [node.name for node in traced.nodes] == ["w * w", "w"]
    assert [(edge.local, edge.sent) for edge in traced.edges] == [(3.0, 3.0), (3.0, 3.0)]
    assert traced.nodes[1].gradient == 6.0
    assert "writes 6 into w.grad, the sum of what 2 edges sent" in expression_view.describe(traced, 2)


def test_after_the_forward_pass_nothing_has_a_gradient_and_each_visit_adds_its_own() -> None:
    traced = traced_default()
    assert set(expression.moment(traced, 0).arrived) == {None}
    reached = [sum(a is not None for a in expression.moment(traced, k).arrived) for k in range(len(traced.order) + 1)]
    assert reached == [0, 2, 3, 5, 5, 6, 6]


@pytest.mark.parametrize("step", [-1, 7])
def test_a_step_that_does_not_exist_is_refused(step: int) -> None:
    with pytest.raises(ValueError, match="steps 0 to 6"):
        expression.moment(traced_default(), step)


@pytest.mark.parametrize(
    ("text", "values", "names", "reason"),
    [
        ("w *", {"w": 1}, None, "not an expression"),
        ("w * v", {"w": 1}, None, "'v' has no value"),
        ("w * 2", {"w": 1, "v": 2}, None, "gives v, which"),
        ("w", {"w": 1}, None, "nothing to draw"),
        ("w * 2", {"w": 1}, (), "nothing to draw"),
        ("w * 2", {"w": 1}, ("v",), "gradients_for names v"),
        ("log(w - 1)", {"w": 1}, None, "finite"),
        ("w @ w", {"w": 1}, None, "cannot be drawn"),
        ("open(w)", {"w": 1}, None, "cannot be drawn"),
        ("w.grad * w", {"w": 1}, None, "cannot be drawn"),
        ("tanh(w, w)", {"w": 1}, None, "one argument"),
        (" + ".join(["w"] * 30), {"w": 1}, None, "do not fit"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(text: str, values: Any, names: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        expression.trace(text, values, names)


@pytest.mark.parametrize(("text", "names"), EXPRESSIONS)
def test_no_two_nodes_stand_at_the_same_place_and_inputs_stand_lower(text: str, names: tuple[str, ...]) -> None:
    values = values_in(text)
    traced = expression.trace(text, values, names)
    places = expression_view.layout(traced)
    for edge in traced.edges:
        assert places[edge.source][1] < places[edge.target][1]
    for i, (x, level) in enumerate(places):
        assert all(level != other or abs(x - at) >= 0.99 for at, other in places[:i])


# The gradient buffer


def test_the_first_backward_assigns_a_new_tensor_and_the_next_one_adds_to_it() -> None:
    ledger = buffer.GradientBuffer(5.0)
    first, second = ledger.backward(), ledger.backward()
    assert (first.before, first.incoming, first.after) == (None, (6.0,), (6.0,))
    assert (first.effect, first.tensor) == ("assigned", "new")
    assert (second.before, second.incoming, second.after) == ((6.0,), (6.0,), (12.0,))
    assert (second.effect, second.tensor) == ("added in place", "same")


def test_zero_grad_leaves_none_and_with_set_to_none_false_the_same_tensor_full_of_zeros() -> None:
    ledger = buffer.GradientBuffer(5.0)
    ledger.backward()
    zeros = ledger.zero_grad(set_to_none=False)
    assert (zeros.after, zeros.effect, zeros.tensor) == ((0.0,), "filled with zeros", "same")
    assert (ledger.backward().effect, ledger.backward().after) == ("added in place", (12.0,))
    none = ledger.zero_grad()
    assert (none.before, none.after, none.effect, none.tensor) == ((12.0,), None, "cleared to None", "released")
    again = ledger.zero_grad()
    assert (again.effect, again.tensor) == ("nothing to clear", "none")
    assert (ledger.backward().effect, ledger.entries[-1].tensor) == ("assigned", "new")


def test_step_reads_the_whole_buffer_moves_the_parameter_and_clears_nothing() -> None:
    ledger = buffer.GradientBuffer(5.0, lr=0.1)
    ledger.backward()
    ledger.backward()
    step = ledger.step()
    assert (step.incoming, step.before, step.after, step.effect) == (None, (12.0,), (12.0,), "read, not changed")
    assert step.parameter == pytest.approx((3.8,))
    assert ledger.backward().incoming == pytest.approx((3.6,))


def test_step_without_a_gradient_moves_nothing() -> None:
    entry = buffer.GradientBuffer(5.0).step()
    assert (entry.effect, entry.tensor, entry.parameter) == ("nothing to read", "none", (5.0,))


def test_a_loss_that_replaces_the_buffer_is_not_reported_as_adding_to_it() -> None:
    def meddling(w: torch.Tensor) -> torch.Tensor:
        w.grad = torch.ones_like(w)
        return (w * w).sum()

    ledger = buffer.GradientBuffer([1.0, 2.0], meddling)
    entry = ledger.backward()
    assert entry.effect != "assigned" or entry.after == entry.incoming
    ledger.backward()
    assert ledger.entries[-1].effect == "replaced"
    assert ledger.entries[-1].after == (3.0, 5.0)


def test_starting_again_forgets_parameter_buffer_and_ledger() -> None:
    ledger = buffer.GradientBuffer([1.0, 4.0])
    fresh = ledger.backward()
    ledger.step()
    ledger.restart()
    assert ledger.entries == [] and ledger.parameter.grad is None
    assert ledger.backward() == fresh


def test_a_parameter_without_entries_is_refused() -> None:
    with pytest.raises(ValueError, match="value is empty"):
        gradient_buffer([])


def test_the_ledger_is_a_table_with_a_caption_and_scoped_headers() -> None:
    page = buffer_view.ledger(buffer.example(buffer.GradientBuffer()))
    assert page.count('<th scope="col"') == len(buffer_view.HEADER)
    assert page.count('<th scope="row"') == 7
    assert "<caption" in page and "None" in page


# The order of events


USUAL = ("zero", "forward", "backward", "step")


@pytest.mark.parametrize(
    "text", ["zero forward backward step", "forward zero backward step", "forward backward step zero"]
)
def test_the_three_places_are_right_and_leave_the_same_losses_bit_for_bit(text: str) -> None:
    run = order.replay(text.split())
    assert run.right and not run.findings
    assert [step.held for step in run.steps] == [(number,) for number in range(1, 7)]
    assert [step.loss for step in run.steps] == [step.loss for step in order.replay(USUAL).steps]
    assert run.end == run.steps[-1].loss < run.start / 2


@pytest.mark.parametrize(("clear", "norm"), [("zero", None), ("zeros", 0.0)])
def test_clearing_between_backward_and_step_loses_every_pass_and_moves_nothing(clear: str, norm: float | None) -> None:
    run = order.replay(["forward", "backward", clear, "step"])
    assert not run.right and not run.moved and run.start == run.end
    assert run.lost == (1, 2, 3, 4, 5, 6) and run.left == ()
    assert {(step.held, step.norm, step.lost) for step in run.steps} == {((), norm, (n,)) for n in range(1, 7)}
    assert [one.misconception for one in run.findings] == ["zeroed-before-step"]
    assert "No step moved a weight. Passes 1 to 6 were cleared unused." in order_view.describe(run)


def test_with_weight_decay_zeros_shrink_every_weight_and_none_leaves_it() -> None:
    zeros = order.replay(["forward", "backward", "zeros", "step"], weight_decay=0.5)
    none = order.replay(["forward", "backward", "zero", "step"], weight_decay=0.5)
    assert zeros.moved and not none.moved and zeros.lost == none.lost
    assert [round(b.moved / a.moved, 12) for a, b in zip(zeros.steps, zeros.steps[1:], strict=False)] == [0.95] * 5
    assert "Steps 1 to 6 found no backward pass in .grad." in order_view.describe(zeros)


def test_without_a_clearing_each_step_uses_all_passes_so_far() -> None:
    run = order.replay(["forward", "backward", "step"])
    assert run.steps[2].held == (1, 2, 3) and run.steps[2].used == (1, 2) and run.lost == ()
    assert [one.misconception for one in run.findings] == ["never-zeroed"]
    assert "Steps 2 to 6 used passes that an earlier step had used." in order_view.describe(run)


def test_two_passes_a_step_are_right_unless_a_clearing_stands_between_them() -> None:
    both = order.replay(["forward", "backward", "forward", "backward", "step", "zero"])
    half = order.replay(["zero", "forward", "backward", "zero", "forward", "backward", "step"])
    assert both.right and both.steps[1].held == (3, 4)
    assert not half.right and half.lost == (1, 3, 5, 7, 9, 11) and half.steps[1].lost == (3,)


def test_what_waits_for_a_step_at_the_end_is_said() -> None:
    run = order.replay(["step", "zero", "forward", "backward"])
    assert not run.right and run.left == (6,) and run.steps[0].norm is None and run.steps[1].held == (1,)
    assert "At the end pass 6 still stands in .grad, and no step has used it." in order_view.describe(run)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("backward forward zero step", "iteration 1, NameError: name 'loss' is not defined"),
        (
            "zero forward backward backward step",
            "iteration 1, RuntimeError: Trying to backward through the graph a second",
        ),
        ("forward step zero backward", "iteration 2, RuntimeError: one of the variables needed for gradient"),
    ],
)
def test_an_order_that_cannot_run_stops_with_pytorchs_own_words(text: str, error: str) -> None:
    run = order.replay(text.split())
    assert run.error is not None and run.error.startswith(error) and not run.right
    assert order_view.describe(run).startswith(f"It stops: {error}")


def test_of_all_orders_of_the_four_events_three_are_right_and_none_uses_a_pass_twice() -> None:
    runs = [order.replay(events) for events in itertools.permutations(USUAL)]
    assert sum(run.right for run in runs) == 3
    assert not any(step.used for run in runs for step in run.steps)
    assert sum(run.error is not None for run in runs) == 13
    assert sum(run.error is None and not run.moved for run in runs) == 6


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(order.LINES)), min_size=1, max_size=order.MOST))
def test_every_pass_is_used_lost_or_left_and_the_text_that_is_shown_is_the_loop_that_ran(events: list[str]) -> None:
    run = order.replay(events, iterations=3)
    used = {number for step in run.steps for number in step.held}
    passes = used | set(run.lost) | set(run.left)
    assert len(used) + len(run.lost) + len(run.left) == len(passes) == (max(passes) if passes else 0)
    assert run.program == order.program(events, 3) and run.program.count("loss.backward()") == events.count("backward")
    assert all(step.moved == 0 for step in run.steps if not step.norm)
    assert order_view.describe(run) and "None" not in "".join(order_view.passes(step.held) for step in run.steps)


@pytest.mark.parametrize(
    ("events", "iterations", "reason"),
    [
        (["clear"], 6, "no event 'clear'"),
        ([], 6, "1 to 10 events, not 0"),
        (["step"] * 11, 6, "not 11"),
        (USUAL, 0, "once"),
    ],
)
def test_an_order_that_is_none_is_refused(events: list[str], iterations: int, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        order.replay(events, iterations)


def test_the_ledger_reads_the_loop_that_ran_and_names_its_line() -> None:
    for events in (["forward", "backward", "zero", "step"], ["forward", "forward", "backward", "zero", "step"]):
        found, *others = order.replay(events).findings
        assert [one.misconception for one in others] == ["loss-overwritten"] * (events.count("forward") - 1)
        assert found.where is not None and found.where.code == "optimizer.zero_grad()"
        assert found.where.line == order.program(events).split("\n").index("    optimizer.zero_grad()") + 1


def test_a_replay_leaves_the_random_state_alone() -> None:
    before = torch.get_rng_state()
    order.replay(USUAL)
    assert torch.equal(torch.get_rng_state(), before)


def test_numbers_of_passes_are_said_in_few_words() -> None:
    said = [order_view.passes(numbers) for numbers in ((), (3,), (1, 2), (1, 2, 3), (1, 3, 5))]
    assert said == ["none", "3", "1, 2", "1 to 3", "1, 3, 5"]


# The line of sizes


def small_gradients() -> list[torch.Tensor]:
    """Two tensors of gradients whose sizes span the lower end of float16, zeros among them."""
    generator = torch.Generator("cpu").manual_seed(0)
    with torch.device("cpu"):
        drawn = torch.randn(3, 40, generator=generator, dtype=torch.float64)
        sizes = drawn[1:] * 2.0 ** (-26 + 6 * drawn[0])
        return [sizes[0].float(), torch.where(drawn[2] > 1, 0.0, sizes[1]).view(5, 8).float()]


def ieee_half(value: float) -> str:
    """What Python's own packing of numbers makes of `value` in 16 bits: another oracle than torch."""
    try:
        (half,) = struct.unpack("<e", struct.pack("<e", value))
    except OverflowError:
        return "infinite"
    return "zero" if half == 0 else "normal" if abs(half) >= 2.0**-14 else "subnormal"


@pytest.mark.parametrize("power", [0, 5, 14, 30, 48])
def test_every_gradient_is_counted_as_the_ieee_format_has_it(power: int) -> None:
    gradients = small_gradients()
    values = [value for part in gradients for value in part.flatten().tolist() if value]
    kinds = [ieee_half(value * 2.0**power) for value in values]
    run = underflow.scaled(gradients, power)
    assert run.counts == {kind: kinds.count(kind) for kind in underflow.KINDS}
    assert {kind: sum(sizes.values()) for kind, sizes in run.sizes.items()} == run.counts
    assert run.total == len(values) and sum(run.share(kind) for kind in underflow.KINDS) == pytest.approx(1)


def test_a_size_is_the_power_of_two_at_or_below_it() -> None:
    run = underflow.scaled([torch.tensor([1.0, -1.9, 2.0, 2.0**-26, 0.0])], 0)
    assert run.sizes == {"zero": {-26: 1}, "subnormal": {}, "normal": {0: 2, 1: 1}, "infinite": {}}


@pytest.mark.parametrize("name", sorted(underflow.FORMATS))
def test_the_ends_are_those_of_the_format(name: str) -> None:
    ends, dtype = underflow.ends(name), underflow.FORMATS[name]
    sizes = torch.tensor([ends.zero, ends.zero + 1, ends.normal, ends.infinite - 1], dtype=torch.float64)
    zero, smallest, tiny, large = (2.0**sizes).to(dtype).double().tolist()
    assert (zero, smallest) == (0.0, 2.0 ** (ends.zero + 1))
    assert tiny == torch.finfo(dtype).tiny and math.isfinite(large)
    assert torch.tensor(2.0, dtype=torch.float64).pow(ends.infinite).to(dtype).isinf()


@pytest.mark.parametrize(
    ("gradients", "power", "name", "reason"),
    [
        ([], 0, "float16", "not zero"),
        ([torch.zeros(3)], 0, "float16", "not zero"),
        ([torch.tensor([1.0, math.nan])], 0, "float16", "NaN before any scale"),
        ([torch.ones(1)], 0, "float8", "no format 'float8'"),
        ([torch.ones(1)], 49, "float16", "2 to the power of 0 to 48, not 49"),
    ],
)
def test_gradients_that_stand_on_no_line_are_refused(
    gradients: list[torch.Tensor], power: int, name: str, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        underflow.scaled(gradients, power, name)


def test_the_sentence_has_all_numbers() -> None:
    said = underflow_view.describe(underflow.scaled([torch.tensor([2.0**-30, 2.0**-20, 1.0, 1e30, 0.0])], 0))
    assert said == (
        "Scale 2**0 in float16 makes of 4 gradients that are not zero: 1 zero, 1 subnormal (with fewer digits), "
        "1 normal and 1 infinite."
    )


# Numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (-0.0, "0"), (3e-17, "0"), (1 / 3, "0.3333"), (-12.0, "-12"), (1234567.0, "1.235e6"), (1e-5, "1e-5")],
)
def test_numbers_are_short_and_hide_rounding_noise(value: float, text: str) -> None:
    assert numbers.number(value) == text


def test_none_and_what_is_no_number_are_written_as_such() -> None:
    assert numbers.vector(None) == "None"
    assert numbers.vector((1.0, -2.5)) == "[1, -2.5]"
    assert [numbers.number(v) for v in (math.nan, math.inf, -math.inf)] == ["nan", "inf", "-inf"]


# The windows of a training


def sizes(rule: str, batches: int, window: int, epochs: int = 3) -> list[int]:
    return [len(step) for step in windows.story(rule, batches, window, epochs).steps]


def test_each_rule_does_with_two_batches_left_over_what_its_name_says() -> None:
    assert sizes("leak", 10, 4) == [4, 4, 6, 4, 6, 4]
    assert sizes("drop", 10, 4) == [4] * 6
    assert sizes("go on", 10, 4) == [4] * 7
    assert sizes("step at the end", 10, 4) == sizes("own division", 10, 4) == [4, 4, 2] * 3
    leak, drop = (windows.story(rule, 10, 4) for rule in ("leak", "drop"))
    assert leak.left == ((2, 8), (2, 9)) and not leak.lost and leak.mixed == (3, 5)
    assert drop.lost == tuple((epoch, batch) for epoch in (0, 1) for batch in (8, 9)) and len(drop.left) == 2


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 14), st.integers(1, 3))
def test_of_the_rules_only_its_own_division_is_right_whatever_is_left_over(
    batches: int, window: int, epochs: int
) -> None:
    assert windows.story("own division", batches, window, epochs).right
    for rule in windows.RULES:
        told = windows.story(rule, batches, window, epochs)
        used = [place for step in told.steps for place in step]
        assert len(used) == len(set(used)) and len(used) + len(told.left) + len(told.lost) == batches * epochs
        if batches % window == 0:
            assert told.right
        elif rule != "own division":
            assert not told.right


def test_what_is_said_of_a_rule_is_what_became_of_its_batches() -> None:
    said = {rule: windows_view.describe(windows.story(rule, 10, 4)) for rule in windows.RULES}
    assert said["own division"].startswith("Right:") and said["leak"].startswith(
        "Steps 3, 5 mixed batches of several epochs"
    )
    assert "The weights of steps 3, 5 sum to more than 1." in said["leak"]
    assert "The weights of steps 3, 6, 9 sum to less than 1." in said["step at the end"]
    assert "Cleared unused: 1.9, 1.10, 2.9, 2.10. Still in .grad at the end, unused: 3.9, 3.10." in said["drop"]
    assert windows_view.describe(windows.story("leak", 1, 9)).startswith("There was no step.")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("lose", 3, 2), "no rule"),
        (("leak", 0, 2), "1 to 24"),
        (("leak", 25, 2), "1 to 24"),
        (("leak", 3, 0), "at least 1"),
    ],
)
def test_a_training_that_is_none_is_refused(arguments: tuple[Any, ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        windows.story(*arguments)


def test_the_windows_change_by_button() -> None:
    buttons, shown = parts(windows_view._widget(10, 4))
    assert "Steps 3, 5 mixed batches of several epochs" in shown()
    buttons["own division"].click()
    assert "Right:" in shown() and "min(4, len(batches)" in shown()
    buttons["longer windows"].click()
    buttons["fewer batches"].click()
    assert "9 batches an epoch, windows of 5" in shown()
    for _ in range(30):
        buttons["shorter windows"].click()
    assert "windows of 1," in shown()


# What is shown


STILLS = {
    "loss_surface": lambda: surface_view.still(surface.Descent(surface.line_fit())),
    "expression_graph": lambda: expression_view.still(traced_default()),
    "gradient_buffer": lambda: buffer_view.still(buffer.example(buffer.GradientBuffer()), buffer_view.EXAMPLE),
    "order_of_events": lambda: page.Still(*order_still()),
    "underflow_line": lambda: page.Still(*line_still()),
    "windows_of_training": lambda: page.Still(*windows_still()),
}


def order_still() -> tuple[str, str]:
    runs = [order.replay(events) for events in order_view.EXAMPLES]
    return order_view.text(runs), page.scrolling(order_view.overview(runs), order_view.STILL_CAPTION)


def windows_still() -> tuple[str, str]:
    stories = [windows.story(rule, 10, 4) for rule in windows.RULES]
    return windows_view.text(stories), page.scrolling(windows_view.overview(stories), windows_view.STILL_CAPTION)


def line_still() -> tuple[str, str]:
    runs = underflow_view._examples(small_gradients())
    return underflow_view.text(runs), underflow_view.table(runs)


@pytest.mark.parametrize("name", sorted(STILLS))
def test_the_still_is_the_same_on_every_run_and_names_no_address(name: str) -> None:
    first, second = STILLS[name](), STILLS[name]()
    assert first == second
    assert not re.search(r"0x[0-9a-f]{6}|model_id|children=", first.text + first.html)


@pytest.mark.parametrize("name", sorted(STILLS))
def test_another_default_device_and_dtype_change_nothing(name: str) -> None:
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float32 if before == torch.float64 else torch.float64)
        with torch.device("meta"):
            text = STILLS[name]().text
    finally:
        torch.set_default_dtype(before)
    assert text == STILLS[name]().text


@pytest.mark.parametrize("name", ["loss_surface", "expression_graph"])
def test_a_still_picture_has_alternative_text_with_its_numbers(name: str) -> None:
    data, metadata = page.mimes(STILLS[name]())
    assert set(data) == {"text/plain", "image/png"}
    assert len(metadata["image/png"]["alt"]) > 80 and re.search(r"\d", metadata["image/png"]["alt"])


@pytest.mark.parametrize("name", sorted(STILLS))
def test_without_ipywidgets_the_still_says_what_to_install(name: str) -> None:
    data, _ = page.mimes(STILLS[name](), install=True)
    assert data["text/plain"].count("pip install") == 1
    assert data["text/html"].count("pip install") == 1
    assert ("<img alt=" in data["text/html"]) == ("image/png" in data)


def test_without_ipywidgets_no_widget_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    import IPython.display

    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(page, "in_kernel", lambda: True)
    monkeypatch.setattr(IPython.display, "display", lambda data, **_: seen.append(data))
    page.show(page.Still("text", "<p>page</p>"), lambda: pytest.fail("a widget was made"), "name")
    assert set(seen[0]) == {"text/plain", "text/html"} and page.INSTALL in seen[0]["text/plain"]


@pytest.mark.parametrize(
    "explorer",
    [
        loss_surface,
        expression_graph,
        gradient_buffer,
        order_of_events,
        lambda: underflow_line(small_gradients()),
        windows_of_training,
    ],
    ids=[
        "loss_surface",
        "expression_graph",
        "gradient_buffer",
        "order_of_events",
        "underflow_line",
        "windows_of_training",
    ],
)
def test_in_a_terminal_the_text_is_printed_and_stderr_stays_empty(
    explorer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    explorer()
    out, err = capsys.readouterr()
    assert out.strip() and not err


def test_a_kernel_without_a_front_end_sends_the_text_of_a_terminal_and_the_widget_as_another_output() -> None:
    import nbformat
    from nbclient import NotebookClient

    given = {"underflow_line": repr([part.tolist() for part in small_gradients()])}
    made = {name: f"map(torch.tensor, {given[name]})" if name in given else "" for name in STILLS}
    cells = [
        f"import torch\nfrom course_utils.widgets import {name}\n{name}({f'list({made[name]})' if made[name] else ''})"
        for name in STILLS
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the client, not of the kernel
        NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    for cell, (name, still) in zip(notebook.cells, STILLS.items(), strict=True):
        output, widget = cell.outputs
        assert output.output_type == "display_data", name
        assert set(widget.data) == {page.VIEW}, name
        assert output.data["text/plain"] == still().text, name
        assert {"text/html", "image/png"} & set(output.data), name


# The live widgets, pressed without a front end


def parts(widget: Any) -> tuple[dict[str, Any], Any]:
    """The buttons by name, and a function that gives everything written at this moment."""
    import ipywidgets as widgets

    found: list[Any] = [widget]
    for part in found:
        found.extend(getattr(part, "children", ()))
    buttons = {part.description: part for part in found if isinstance(part, widgets.Button)}
    assert all(buttons) and all(button.tooltip for button in buttons.values())
    return buttons, lambda: " ".join(part.value for part in found if isinstance(part, widgets.HTML))


def test_the_loss_surface_steps_and_resets_by_button() -> None:
    descent = surface.Descent(surface.line_fit())
    widget = surface_view._widget(descent, 0.2, 1.03, 0.01)
    buttons, written = parts(widget)
    start = written()
    assert "After 0 steps" in start and 'role="status"' in start and "<img alt=" in start
    buttons["Step"].click()
    assert "After 1 step:" in written()
    buttons["Double it"].click()
    assert "Next step = -0.4 * gradient" in written()
    for _ in range(5):
        buttons["Double it"].click()
    assert "lr = 1.03 is above the limit" in written()
    while descent.ahead(1.03).loss_after < 1e12:
        descent.step(1.03)
    taken = len(descent.taken)
    buttons["Step"].click()
    assert "it diverges" in written() and len(descent.taken) == taken
    buttons["Reset"].click()
    buttons["Halve it"].click()
    assert "After 0 steps" in written()


def test_the_learning_rate_field_has_a_label_and_redraws() -> None:
    widget = surface_view._widget(surface.Descent(surface.line_fit()), 0.2, 1.03, 0.01)
    rate = widget.children[0].children[0]
    assert rate.description == "learning rate"
    _, written = parts(widget)
    rate.value = 0.6
    assert "Next step = -0.6 * gradient" in written()


def test_the_slider_and_the_field_of_the_learning_rate_show_one_value() -> None:
    widget = surface_view._widget(surface.Descent(surface.line_fit()), 0.2, 1.03, 0.01)
    rate, slider = widget.children[0].children[:2]
    _, written = parts(widget)
    slider.value = 0.7
    assert rate.value == 0.7 and "Next step = -0.7 * gradient" in written()
    rate.value = 0.3
    assert slider.value == 0.3
    slider.value = 0.19999999999999998  # as a front end counts its notches
    assert rate.value == 0.2
    rate.value = 0.515
    slider.value = 0.52  # as a front end rounds what lies between two notches
    assert rate.value == 0.515


def test_the_expression_graph_walks_forth_and_back_and_stops_at_both_ends() -> None:
    buttons, written = parts(expression_view._widget(traced_default()))
    buttons["Previous"].click()
    assert "Step 0 of 6" in written()
    buttons["Next"].click()
    buttons["Next"].click()
    assert "Step 2 of 6: SubBackward0" in written()
    buttons["Previous"].click()
    assert "Step 1 of 6" in written()
    buttons["End"].click()
    buttons["Next"].click()
    assert "Step 6 of 6: AccumulateGrad writes 18 into w.grad" in written()
    buttons["Start"].click()
    assert "Step 0 of 6" in written() and 'scope="row"' in written()


def test_every_press_on_the_gradient_buffer_adds_a_line_to_the_ledger() -> None:
    pressed = Mock()
    buttons, written = parts(buffer_view._widget(buffer.GradientBuffer(), pressed))
    assert "The ledger is empty" in written()
    for count, name in enumerate(
        ["backward()", "backward()", "step()", "zero_grad(set_to_none=False)", "zero_grad()"], start=1
    ):
        buttons[name].click()
        assert written().count('<th scope="row"') == pressed.call_count == count
    buttons["Start again"].click()
    assert "The ledger is empty" in written() and pressed.call_count == 6, "what is stored begins again, too"


def test_an_order_is_put_together_taken_back_and_run_by_button() -> None:
    buttons, written = parts(order_view._widget(0.0))
    assert "No event yet" in written()
    for name in ("Run", "Undo"):
        buttons[name].click()
        assert "No event yet" in written()
    for name in ("forward", "backward()", "step()", "zero_grad()"):
        buttons[name].click()
    assert "loss.backward()" in written() and '<th scope="row"' not in written()
    buttons["Undo"].click()
    buttons["Run"].click()
    assert "Steps 2 to 6 used passes that an earlier step had used" in written()
    assert written().count('<th scope="row"') == 6 and "<caption" in written() and "<img alt=" in written()
    buttons["zero_grad(set_to_none=False)"].click()
    assert "Add an event, or press Run" in written() and "<img" not in written()
    buttons["Run"].click()
    assert "Right: every step used" in written()
    for _ in range(order.MOST):
        buttons["forward"].click()
    assert "10 events are the most" in written() and written().count("x, y = next(batches)") == order.MOST - 3
    buttons["Start again"].click()
    assert "No event yet" in written() and "loss.backward()" not in written()


def test_an_order_without_a_step_is_run_without_a_picture() -> None:
    buttons, written = parts(order_view._widget(0.0))
    buttons["forward"].click()
    buttons["Run"].click()
    assert "No step ran" in written() and "<img" not in written()


def test_the_scale_moves_by_slider_and_by_button_and_the_format_by_button() -> None:
    import ipywidgets as widgets

    widget = underflow_view._widget(small_gradients())
    buttons, written = parts(widget)
    slider = widget.children[0].children[0]
    assert isinstance(slider, widgets.IntSlider) and slider.description == "scale, power of two"
    assert "Scale 2**0 in float16" in written() and 'role="status"' in written() and "<img alt=" in written()
    buttons["Halve it"].click()
    assert slider.value == 0
    buttons["Double it"].click()
    buttons["Times 256"].click()
    assert slider.value == 9 and "Scale 2**9 in float16" in written() and " infinite." not in written()
    slider.value = 40
    assert " infinite." in written()
    buttons["bfloat16"].click()
    assert "Scale 2**40 in bfloat16" in written() and "infinite from about 2**128" in written()
    for _ in range(3):
        buttons["Times 256"].click()
    assert slider.value == underflow.POWERS[-1]
    buttons["float16"].click()
    assert "Scale 2**48 in float16" in written()


def test_a_run_leaves_no_figure_open() -> None:
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    assert len(order_view.drawn(order.replay(USUAL)).alt) > 80
    assert plt.get_fignums() == before


def test_the_alternative_text_of_the_surface_says_when_the_point_has_left_the_picture() -> None:
    descent = surface.Descent(surface.line_fit())
    assert "left the picture" not in surface_view.draw(descent, 0.2).alt
    while abs(descent.point[0]) < 50:
        descent.step(1.03)
    assert "left the picture" in surface_view.draw(descent, 0.2).alt


def test_importing_the_names_draws_on_no_drawing_and_no_widget_library() -> None:
    code = (
        "import sys\n"
        "from course_utils.widgets import *\n"
        "print([m for m in ('matplotlib', 'ipywidgets', 'IPython') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_importing_the_package_of_widgets_alone_loads_no_explorer() -> None:
    code = "import sys, course_utils.widgets\nprint([m for m in sys.modules if 'explorers' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    import course_utils.widgets as package

    with pytest.raises(AttributeError, match="no_such_explorer"):
        package.no_such_explorer  # noqa: B018
