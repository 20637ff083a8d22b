"""Attempts at exercise 1.6, find_cuts: what learners write, and what the check must say of it."""

from torch.autograd import gradcheck
from torch.autograd.functional import jacobian, vjp
import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson1.find_cuts import mistakes


def numerical_gradient(f, x, h=1e-5):
    g = torch.zeros_like(x).reshape(-1)
    for i in range(x.numel()):
        up, down = x.detach().clone().reshape(-1), x.detach().clone().reshape(-1)
        up[i] += h
        down[i] -= h
        g[i] = (f(up.reshape(x.shape)) - f(down.reshape(x.shape))).item() / (2 * h)
    return g.reshape(x.shape)


@right
def grad_of_a_leaf_against_own_judge(stations, x):
    cuts, h = [], x
    for i, station in enumerate(stations):
        leaf = h.detach().clone().requires_grad_()
        total = station(leaf).sum()
        g = torch.autograd.grad(total, leaf, allow_unused=True)[0] if total.requires_grad else None
        if g is None:
            g = torch.zeros_like(leaf)
        measured = numerical_gradient(lambda at: station(at).sum(), h.detach(), h=1e-3)
        if (g - measured).abs().max() > 0.05:
            cuts.append(i)
        h = station(h.detach())
    return cuts


@right
def by_gradcheck(stations, x):
    found = []
    for number, s in enumerate(stations):
        ok = gradcheck(
            lambda at: s(at).sum(), x.detach().clone().requires_grad_(), eps=1e-2, atol=0.06, raise_exception=False
        )
        found += [] if ok else [number]
        x = s(x).detach()
    return found


# The Jacobian of the sum is zeros where nothing leads back.
@right
def by_jacobian(stations, x):
    result = []
    for i in range(len(stations)):
        f = lambda h: stations[i](h).sum()
        given = jacobian(f, x)
        if not torch.allclose(given, numerical_gradient(f, x, 1e-3), rtol=1e-2, atol=2e-2):
            result.append(i)
        x = stations[i](x).detach()
    return result


# One direction is enough, if it is no special one.
@right
def along_one_direction(stations, x):
    result = []
    h = x.clone()
    for i, station in enumerate(stations):
        direction = torch.linspace(0.7, 1.3, h.numel(), dtype=h.dtype, device=h.device).reshape(h.shape)
        measured = (station(h + 1e-3 * direction).sum() - station(h - 1e-3 * direction).sum()) / 2e-3
        leaf = h.clone().requires_grad_(True)
        try:
            (g,) = torch.autograd.grad(station(leaf).sum(), leaf)
            slope = (g * direction).sum()
        except RuntimeError:
            slope = 0.0
        if abs(float(measured) - float(slope)) > 0.04:
            result.append(i)
        with torch.no_grad():
            h = station(h)
        h = h.detach()
    return tuple(result)


# backward() can be told where to store.
@right
def backward_into_the_leaf_alone(stations, x):
    def cuts(station, values):
        leaf = values.detach().clone()
        leaf.requires_grad = True
        out = station(leaf).sum()
        if out.grad_fn is not None:
            out.backward(inputs=[leaf])
        g = leaf.grad if leaf.grad is not None else torch.zeros_like(leaf)
        return bool(((g - numerical_gradient(lambda v: station(v).sum().detach(), values, 2e-3)).abs() > 0.05).any())

    arriving = [x]
    for station in stations:
        arriving.append(station(arriving[-1]).detach())
    return [i for i, (station, values) in enumerate(zip(stations, arriving)) if cuts(station, values)]


@right
def recursion_with_vjp(stations, x, at=0):
    if not stations:
        return []
    first, *rest = stations
    value, g = vjp(lambda h: first(h).sum(), x.detach())
    measured = numerical_gradient(lambda h: first(h).sum(), x.detach(), 1e-3)
    here = [at] if (g - measured).abs().max() > 0.05 else []
    return here + recursion_with_vjp(rest, first(x).detach(), at + 1)


@right
def measured_in_the_dtype_it_has(stations, x):
    move = 1e-6 if x.dtype == torch.float64 else 4e-3
    out = []
    for k, s in enumerate(stations):
        leaf = x.detach().requires_grad_()
        y = s(leaf)
        grads = torch.autograd.grad(y, leaf, torch.ones_like(y), allow_unused=True) if y.requires_grad else (None,)
        given = grads[0] if grads[0] is not None else leaf.new_zeros(leaf.shape)
        if torch.dist(given, numerical_gradient(lambda a: s(a).detach().sum(), leaf.detach(), move)) > 0.08:
            out.append(k)
        x = y.detach()
    return out


@wrong(mistakes.output_requires_a_gradient)
def asks_requires_grad(stations, x):
    cuts = []
    h = x.detach().clone().requires_grad_()
    for i, station in enumerate(stations):
        h = station(h)
        if not h.requires_grad:
            cuts.append(i)
        h = h.detach().clone().requires_grad_()
    return cuts


@wrong(mistakes.output_requires_a_gradient)
def asks_grad_fn(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        x = x.detach().requires_grad_(True)
        y = station(x)
        if y.grad_fn is None:
            cuts += [i]
        x = y
    return cuts


@wrong(mistakes.only_missing_gradients)
def asks_whether_a_gradient_is_there(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        leaf = x.detach().clone().requires_grad_()
        y = station(leaf)
        try:
            torch.autograd.grad(y.sum(), leaf)
        except RuntimeError:
            cuts.append(i)
        x = y
    return cuts


@wrong(mistakes.only_missing_gradients)
def takes_zeros_for_a_cut(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        g = jacobian(lambda h: station(h).sum(), x.detach())
        if not g.any():
            cuts.append(i)
        x = station(x.detach()).detach()
    return cuts


@wrong(mistakes.signs_compared)
def compares_directions(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        g = jacobian(lambda h: station(h).sum(), x.detach())
        n = numerical_gradient(lambda h: station(h).sum(), x.detach(), 1e-3)
        if (torch.sign(g) != torch.sign(n)).any():
            cuts.append(i)
        x = station(x.detach()).detach()
    return cuts


@wrong(mistakes.behind_a_cut)
def from_x_each_time(stations, x):
    cuts = []
    for i in range(len(stations)):

        def way(h):
            for station in stations[: i + 1]:
                h = station(h)
            return h.sum()

        if not gradcheck(way, x.clone().requires_grad_(), eps=1e-3, atol=0.05, raise_exception=False):
            cuts.append(i)
    return cuts


@wrong(mistakes.behind_a_cut_and_parts_missing)
def gradient_of_x_is_none(stations, x):
    leaf = x.clone().requires_grad_()
    h, cuts = leaf, []
    for i, station in enumerate(stations):
        h = station(h)
        if not h.requires_grad or torch.autograd.grad(h.sum(), leaf, retain_graph=True, allow_unused=True)[0] is None:
            cuts.append(i)
    return cuts


@wrong(mistakes.lost_along_the_way)
def one_walk_and_requires_grad(stations, x):
    h = x.clone().requires_grad_()
    cuts = []
    for i, station in enumerate(stations):
        h = station(h)
        if not h.requires_grad:
            cuts.append(i)
    return cuts


@wrong(mistakes.judged_at_x)
def never_hands_on(stations, x):
    return [
        i
        for i, s in enumerate(stations)
        if not gradcheck(lambda h: s(h).sum(), x.clone().requires_grad_(), eps=1e-3, atol=0.05, raise_exception=False)
    ]


@wrong(mistakes.first_cut_alone)
def returns_at_the_first(stations, x):
    for i, station in enumerate(stations):
        g = jacobian(lambda h: station(h).sum(), x.detach())
        n = numerical_gradient(lambda h: station(h).sum(), x.detach(), 1e-3)
        if (g - n).abs().max() > 0.05:
            return [i]
        x = station(x).detach()
    return []


@wrong(mistakes.counted_from_one)
def starts_at_one(stations, x):
    cuts = []
    for i, station in enumerate(stations, 1):
        g = jacobian(lambda h: station(h).sum(), x.detach())
        n = numerical_gradient(lambda h: station(h).sum(), x.detach(), 1e-3)
        if (g - n).abs().max() > 0.05:
            cuts.append(i)
        x = station(x).detach()
    return cuts


@wrong(mistakes.whole_ones_named)
def comparison_the_wrong_way_round(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        g = jacobian(lambda h: station(h).sum(), x.detach())
        n = numerical_gradient(lambda h: station(h).sum(), x.detach(), 1e-3)
        if torch.allclose(g, n, atol=0.05):
            cuts.append(i)
        x = station(x).detach()
    return cuts


@wrong(mistakes.flags_for_positions)
def list_of_flags(stations, x):
    flags = []
    for station in stations:
        g = jacobian(lambda h: station(h).sum(), x.detach())
        n = numerical_gradient(lambda h: station(h).sum(), x.detach(), 1e-3)
        flags.append(bool((g - n).abs().max() > 0.05))
        x = station(x).detach()
    return flags


# The default of 1.1, and the default tolerances of allclose: right in float64 alone.
@wrong(mistakes.move_too_small_for_float32)
def default_move(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        g = jacobian(lambda h: station(h).sum(), x.detach())
        n = numerical_gradient(lambda h: station(h).sum(), x.detach())
        if not torch.allclose(g, n, atol=1e-6):
            cuts.append(i)
        x = station(x).detach()
    return cuts


@wrong(mistakes.move_too_small_for_float32)
def tiny_move(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        g = jacobian(lambda h: station(h).sum(), x.detach())
        n = numerical_gradient(lambda h: station(h).sum(), x.detach(), 1e-8)
        if not torch.allclose(g, n, atol=1e-4, rtol=1e-4):
            cuts.append(i)
        x = station(x).detach()
    return cuts


# A tolerance that forgives the rounding of small sums alone.
@wrong(mistakes.move_too_small_for_float32)
def default_move_and_a_wide_tolerance(stations, x):
    cuts, h = [], x
    for i, station in enumerate(stations):
        leaf = h.detach().clone().requires_grad_(True)
        out = station(leaf)
        g = torch.autograd.grad(out.sum(), leaf, allow_unused=True)[0] if out.requires_grad else None
        if g is None:
            g = torch.zeros_like(leaf)
        if (g - numerical_gradient(lambda at: station(at).sum(), h.detach())).abs().max() > 0.05:
            cuts.append(i)
        h = out
    return cuts


@wrong(mistakes.move_too_small_for_float32)
def tinier_move_and_a_wide_tolerance(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        g = jacobian(lambda h: station(h).sum(), x.detach())
        if (g - numerical_gradient(lambda h: station(h).sum(), x, 1e-6)).abs().max() > 0.1:
            cuts.append(i)
        x = station(x).detach()
    return cuts


@wrong(mistakes.sums_compared)
def sums_of_both(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        g = jacobian(lambda h: station(h).sum(), x.detach()).sum()
        n = numerical_gradient(lambda h: station(h).sum(), x, 1e-3).sum()
        if abs(g - n) > 0.05:
            cuts.append(i)
        x = station(x).detach()
    return cuts


@wrong(mistakes.without_abs)
def largest_difference(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        g = jacobian(lambda h: station(h).sum(), x.detach())
        n = numerical_gradient(lambda h: station(h).sum(), x, 1e-3)
        if (n - g).max() > 0.05:
            cuts.append(i)
        x = station(x).detach()
    return cuts


@wrong(mistakes.without_abs)
def largest_difference_the_other_way(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        g = jacobian(lambda h: station(h).sum(), x.detach())
        n = numerical_gradient(lambda h: station(h).sum(), x, 1e-3)
        if (g - n).max() > 0.05:
            cuts.append(i)
        x = station(x).detach()
    return cuts


@wrong(mistakes.missing_is_a_cut)
def no_gradient_no_question(stations, x):
    cuts, h = [], x
    for i, station in enumerate(stations):
        leaf = h.detach().clone().requires_grad_(True)
        out = station(leaf)
        try:
            (g,) = torch.autograd.grad(out.sum(), leaf)
        except RuntimeError:
            cuts.append(i)
            h = out
            continue
        if (g - numerical_gradient(lambda at: station(at).sum(), h.detach(), 1e-2)).abs().max() > 0.05:
            cuts.append(i)
        h = out
    return cuts


@raised(mistakes.backward_into_every_weight)
def backward_everywhere(stations, x):
    cuts, h = [], x
    for i, station in enumerate(stations):
        leaf = h.detach().clone().requires_grad_()
        out = station(leaf).sum()
        if out.requires_grad:
            out.backward()
        g = leaf.grad if leaf.grad is not None else torch.zeros_like(leaf)
        n = numerical_gradient(lambda at: station(at).sum(), leaf.detach(), 1e-3)
        if (g - n).abs().max() > 0.05:
            cuts.append(i)
        h = station(h).detach()
    return cuts


@wrong(effects.changed_requires_grad)
def requires_grad_on_the_callers_x(stations, x):
    cuts = []
    x.requires_grad_(True)
    h = x
    for i, station in enumerate(stations):
        total = station(h).sum()
        g = torch.autograd.grad(total, h, allow_unused=True)[0] if total.requires_grad else None
        g = torch.zeros_like(h) if g is None else g
        n = numerical_gradient(lambda at: station(at).sum(), h.detach(), 1e-3)
        if (g - n).abs().max() > 0.05:
            cuts.append(i)
        h = station(h).detach().requires_grad_(True)
    return cuts


@wrong(effects.returned_nothing)
def prints_them(stations, x):
    for i, station in enumerate(stations):
        leaf = x.detach().clone().requires_grad_()
        if not station(leaf).requires_grad:
            print(i)
        x = station(x).detach()


@raised(effects.no_graph)
def grad_without_asking(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        leaf = x.detach().clone().requires_grad_()
        (g,) = torch.autograd.grad(station(leaf).sum(), leaf)
        if not torch.allclose(g, numerical_gradient(lambda at: station(at).sum(), leaf.detach(), 1e-3), atol=0.05):
            cuts.append(i)
        x = station(x).detach()
    return cuts


@wrong(mistakes.behind_a_cut)
def one_walk_and_the_judge(stations, x):
    cuts = []
    h = x.clone().requires_grad_()
    for i, station in enumerate(stations):
        y = station(h)
        if not y.requires_grad or not h.requires_grad:
            cuts.append(i)
        else:
            g = torch.autograd.grad(y.sum(), h, retain_graph=True, allow_unused=True)[0]
            n = numerical_gradient(lambda at: station(at).sum(), h.detach(), 1e-3)
            if g is None or (g - n).abs().max() > 0.05:
                cuts.append(i)
        h = y
    return cuts


# Errors are caught, so the freed graph is not noticed; what is left in .grad is.
@wrong(effects.changed_grad)
def backward_and_no_questions(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        leaf = x.detach().clone().requires_grad_()
        try:
            station(leaf).sum().backward()
        except RuntimeError:
            pass
        g = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
        if (g - numerical_gradient(lambda at: station(at).sum(), leaf.detach(), 1e-3)).abs().max() > 0.05:
            cuts.append(i)
        x = station(x).detach()
    return cuts


# Two mistakes; the first case that fails shows this one, and its move is named beside it.
@wrong(mistakes.missing_is_a_cut)
def in_per_mille(stations, x):
    cuts = []
    for i, station in enumerate(stations):
        leaf = x.detach().clone().requires_grad_()
        total = station(leaf).sum()
        g = torch.autograd.grad(total, leaf, allow_unused=True)[0] if total.requires_grad else None
        n = numerical_gradient(lambda at: station(at).sum(), leaf.detach())
        if g is None or ((g - n).abs() / n.abs()).max() > 0.0001:
            cuts.append(i)
        x = station(x).detach()
    return cuts


@wrong(mistakes.sums_compared)
def moves_all_entries_at_once(stations, x):
    found, h = [], x.detach()
    for k, station in enumerate(stations):
        leaf = h.clone().requires_grad_()
        out = station(leaf)
        grad = None
        if out.requires_grad:
            (grad,) = torch.autograd.grad(out.sum(), leaf, allow_unused=True)
        total = 0.0 if grad is None else grad.double().sum().item()
        eps = 1e-3 if h.dtype == torch.float32 else 1e-6
        with torch.no_grad():
            slope = (station(h + eps).double() - station(h - eps).double()).sum().item() / (2 * eps)
        if abs(slope - total) > 0.05:
            found.append(k)
        h = out.detach()
    return found


@wrong(mistakes.one_entry_let_pass)
def mean_error_against_a_tenth(stations, x):
    cuts, h = [], x.detach()
    for k, station in enumerate(stations):
        measured = numerical_gradient(lambda at: station(at).sum(), h, 1e-3)
        if (measured - jacobian(lambda at: station(at).sum(), h)).abs().mean() > 0.1:
            cuts.append(k)
        h = station(h).detach()
    return cuts


@wrong(mistakes.sums_compared)
def last_entry_stands_for_all(stations, x):
    cuts, h = [], x.detach()
    for k, station in enumerate(stations):
        measured = numerical_gradient(lambda at: station(at).sum(), h, 1e-3)
        if (measured - jacobian(lambda at: station(at).sum(), h)).flatten()[-1].abs() > 0.05:
            cuts.append(k)
        h = station(h).detach()
    return cuts


@wrong(mistakes.missing_is_a_cut)
def nothing_arrives_so_it_cuts(stations, x):
    cuts, h = [], x.detach()
    for k, station in enumerate(stations):
        leaf = h.clone().requires_grad_()
        total = station(leaf).sum()
        grad = torch.autograd.grad(total, leaf, allow_unused=True)[0] if total.requires_grad else None
        measured = numerical_gradient(lambda at: station(at).sum(), h, 1e-3)
        if grad is None or (grad - measured).abs().max() > 0.05:
            cuts.append(k)
        h = station(h).detach()
    return cuts


@wrong(mistakes.measured_over_a_wide_move)
def one_sided_and_far(stations, x):
    cuts, h = [], x.detach()
    for k, station in enumerate(stations):
        given = jacobian(lambda at: station(at).sum(), h).flatten()
        moves = 0.1 * torch.eye(h.numel(), dtype=h.dtype)
        rises = [(station(h + move.reshape(h.shape)) - station(h)).sum() / 0.1 for move in moves]
        if (torch.stack(rises) - given).abs().max() > 0.1:
            cuts.append(k)
        h = station(h).detach()
    return cuts
