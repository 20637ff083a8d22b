"""Attempts at exercise 2.3, shared_weight_gradient: what learners write, and what the check must say of it."""

from torch import nn
from functools import reduce
from itertools import accumulate
from itertools import repeat
from torch.func import grad
from torch.func import vjp
import math
import numpy as np
import torch

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson2.shared_weight_gradient import mistakes


@raised(effects.backward_needs_scalar)
def forgot_the_sum(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = torch.autograd.grad(h, leaves)
    return contributions, sum(contributions)


@raised(effects.grad_of_a_non_leaf)
def grad_of_non_leaf(w, x, depth):
    leaf = w.detach().clone().requires_grad_()
    uses, h = [], x.detach()
    for _ in range(depth):
        uses.append(leaf.clone())
        h = torch.tanh(uses[-1] * h)
    h.sum().backward()
    return [u.grad for u in uses], sum(u.grad for u in uses)


@raised(effects.in_place_on_a_leaf)
def h_is_x(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach().clone().requires_grad_()
    for leaf in leaves:
        h *= leaf
        h = torch.tanh(h)
    contributions = torch.autograd.grad(h.sum(), leaves)
    return contributions, sum(contributions)


@raised(effects.no_graph)
def plain_w(w, x, depth):
    uses, h = [], x
    for _ in range(depth):
        uses.append(w.clone())
        h = torch.tanh(uses[-1] * h)
    contributions = torch.autograd.grad(h.sum(), uses)
    return contributions, sum(contributions)


@raised(effects.overwrote_saved_value)
def tanh_in_place(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach().clone()
    for leaf in leaves:
        h *= leaf
        h = h.tanh_()
    contributions = torch.autograd.grad(h.sum(), leaves)
    return contributions, sum(contributions)


@raised(mistakes.uses_cut_apart)
def detach(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h.detach())
    contributions = torch.autograd.grad(h.sum(), leaves)
    return contributions, sum(contributions)


@right
def backward_on_fresh_leaves(w, x, depth):
    copies = []
    h = x.detach().clone()
    for _ in range(depth):
        copy = torch.tensor(w.tolist(), dtype=w.dtype, device=w.device, requires_grad=True)
        copies.append(copy)
        h = (copy * h).tanh()
    h.sum().backward()
    contributions = [c.grad for c in copies]
    total = torch.zeros_like(contributions[0])
    for c in contributions:
        total += c
    return contributions, total


@right
def by_hand(w, x, depth):
    with torch.no_grad():
        hs = [x]
        for _ in range(depth):
            hs.append(torch.tanh(w * hs[-1]))
        signal = torch.ones_like(x)
        contributions = []
        for k in range(depth, 0, -1):
            before_tanh = signal * (1 - hs[k] ** 2)
            g = before_tanh * hs[k - 1]
            contributions.insert(0, g.sum() if w.dim() == 0 else g)
            signal = before_tanh * w
        return contributions, torch.stack(contributions).sum(0)


@right
def func_grad(w, x, depth):
    def loss(*ws):
        h = x.detach()
        for each in ws:
            h = torch.tanh(each * h)
        return h.sum()

    parts = torch.func.grad(loss, argnums=tuple(range(depth)))(*[w.detach()] * depth)
    parts = torch.stack(parts)
    return parts, parts.sum(0)


@right
def one_leaf_a_use(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = torch.autograd.grad(h.sum(), leaves)
    return contributions, sum(contributions)


@right
def retained_intermediates(w, x, depth):
    """Total from one leaf, contributions from the gradients of each h."""
    v = w.detach().clone().requires_grad_()
    hs = [x.detach().clone().requires_grad_()]
    for _ in range(depth):
        hs.append(torch.tanh(v * hs[-1]))
        hs[-1].retain_grad()
    hs[-1].sum().backward()
    parts = []
    for k in range(depth):
        part = hs[k + 1].grad * (1 - hs[k + 1].detach() ** 2) * hs[k].detach()
        parts.append(part.sum_to_size(w.shape))
    return parts, v.grad


@right
def stacked_weights(w, x, depth):
    ws = w.detach().expand(depth, *w.shape).clone().requires_grad_(True)
    h = x.detach()
    for k in range(depth):
        h = torch.tanh(ws[k] * h)
    h.sum().backward()
    return ws.grad, ws.grad.sum(dim=0)


@wrong(mistakes.activation_derivative_missing)
def linear_chain(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    signal = torch.ones_like(x)
    contributions = []
    for k in reversed(range(depth)):
        contributions.append((signal * hs[k]).sum_to_size(w.shape))
        signal = signal * w
    contributions.reverse()
    return contributions, sum(contributions)


@wrong(effects.changed_grad)
def total_by_backward(w, x, depth):
    was = w.requires_grad
    w.requires_grad_()
    uses, h = [], x.detach()
    for _ in range(depth):
        uses.append(w.clone())
        uses[-1].retain_grad()
        h = torch.tanh(uses[-1] * h)
    h.sum().backward()
    w.requires_grad_(was)
    return [u.grad for u in uses], sum(u.grad for u in uses)


@wrong(effects.changed_input)
def in_place_forward(w, x, depth):
    with torch.no_grad():
        hs = [x.clone()]
        for _ in range(depth):
            x.mul_(w).tanh_()
            hs.append(x.clone())
        signal = torch.ones_like(x)
        contributions = []
        for k in range(depth, 0, -1):
            signal = signal * (1 - hs[k] ** 2)
            contributions.insert(0, (signal * hs[k - 1]).sum_to_size(w.shape))
            signal = signal * w
    return contributions, sum(contributions)


@wrong(effects.changed_requires_grad)
def switched_on_w(w, x, depth):
    w.requires_grad_()
    uses = []
    h = x.detach()
    for _ in range(depth):
        use = w.clone()
        uses.append(use)
        h = torch.tanh(use * h)
    contributions = torch.autograd.grad(h.sum(), uses)
    return contributions, sum(contributions)


@wrong(mistakes.contributions_alone)
def forgot_total(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    return list(torch.autograd.grad(h.sum(), leaves))


@wrong(mistakes.one_round_too_many)
def depth_plus_one(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth + 1)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = torch.autograd.grad(h.sum(), leaves)
    return contributions, sum(contributions)


@wrong(mistakes.last_use_first)
def backward_order(w, x, depth):
    with torch.no_grad():
        hs = [x]
        for _ in range(depth):
            hs.append(torch.tanh(w * hs[-1]))
        signal = torch.ones_like(x)
        contributions = []
        for k in range(depth, 0, -1):
            signal = signal * (1 - hs[k] ** 2)
            contributions.append((signal * hs[k - 1]).sum_to_size(w.shape))
            signal = signal * w
    return contributions, sum(contributions)


@wrong(mistakes.local_derivative_alone)
def each_round_its_own_loss(w, x, depth):
    contributions = []
    h = x.detach()
    for _ in range(depth):
        leaf = w.detach().clone().requires_grad_()
        h = torch.tanh(leaf * h.detach())
        contributions += torch.autograd.grad(h.sum(), leaf)
    return contributions, sum(contributions)


@wrong(mistakes.mean_for_sum)
def mean_loss(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = torch.autograd.grad(h.mean(), leaves)
    return contributions, sum(contributions)


@wrong(mistakes.two_rounds_always)
def hard_coded_depth_2(w, x, depth):
    a, b = (w.detach().clone().requires_grad_() for _ in range(2))
    h = torch.tanh(b * torch.tanh(a * x.detach()))
    contributions = torch.autograd.grad(h.sum(), (a, b))
    return contributions, contributions[0] + contributions[1]


@wrong(mistakes.one_use_for_total)
def last_grad(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    h.sum().backward()
    return [leaf.grad for leaf in leaves], leaf.grad


@wrong(mistakes.output_for_input)
def off_by_one(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    signal = torch.ones_like(x)
    contributions = []
    for h in hs[:0:-1]:
        signal = signal * (1 - h**2)
        contributions.append((signal * h).sum_to_size(w.shape))
        signal = signal * w
    contributions.reverse()
    return contributions, sum(contributions)


@wrong(mistakes.pair_swapped)
def total_first(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = torch.autograd.grad(h.sum(), leaves)
    return sum(contributions), contributions


@wrong(mistakes.running_totals)
def cumulated(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    total, contributions = torch.zeros_like(w), []
    for g in torch.autograd.grad(h.sum(), leaves):
        total = total + g
        contributions.append(total)
    return contributions, total


@wrong(mistakes.same_leaf_for_every_use)
def list_times_depth(w, x, depth):
    leaves = [w.detach().clone().requires_grad_()] * depth
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = torch.autograd.grad(h.sum(), leaves)
    return contributions, sum(contributions)


@wrong(mistakes.started_from_old_gradients)
def total_from_w_grad(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = torch.autograd.grad(h.sum(), leaves)
    total = torch.zeros_like(contributions[0]) if w.grad is None else w.grad.clone()
    for g in contributions:
        total += g
    return contributions, total


@wrong(mistakes.total_alone)
def one_leaf(w, x, depth):
    leaf = w.detach().clone().requires_grad_()
    h = x.detach()
    for _ in range(depth):
        h = torch.tanh(leaf * h)
    h.sum().backward()
    return leaf.grad


@wrong(mistakes.total_shared_evenly)
def gamed(w, x, depth):
    leaf = w.detach().clone().requires_grad_()
    h = x.detach()
    for _ in range(depth):
        h = torch.tanh(leaf * h)
    h.sum().backward()
    return [leaf.grad / depth] * depth, leaf.grad


@wrong(mistakes.uses_averaged)
def mean_of_uses(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = torch.stack(torch.autograd.grad(h.sum(), leaves))
    return contributions, contributions.mean(0)


@wrong(mistakes.uses_cut_apart)
def detach_and_zeros(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h.detach())
    contributions = torch.autograd.grad(h.sum(), leaves, materialize_grads=True, allow_unused=True)
    return contributions, sum(contributions)


@wrong(mistakes.uses_not_reduced)
def vectors_in_mind(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    signal = torch.ones_like(x)
    contributions = [None] * depth
    for k in reversed(range(depth)):
        signal = signal * (1 - hs[k + 1] ** 2)
        contributions[k] = signal * hs[k]
        signal = signal * w
    return contributions, sum(contributions)


@wrong(mistakes.weight_left_out_of_chain)
def by_hand_2(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    signal = torch.ones_like(x)
    contributions = []
    for k in reversed(range(depth)):
        signal = signal * (1 - hs[k + 1] ** 2)
        contributions.append((signal * hs[k]).sum_to_size(w.shape))
    contributions.reverse()
    return contributions, sum(contributions)


@wrong(mistakes.whole_chain_so_far)
def gradient_after_each_round(w, x, depth):
    leaf = w.detach().clone().requires_grad_()
    h = x.detach()
    contributions = []
    for _ in range(depth):
        h = torch.tanh(leaf * h)
        (g,) = torch.autograd.grad(h.sum(), leaf, retain_graph=True)
        contributions.append(g)
    return contributions, sum(contributions)


@wrong(effects.wrong_dtype)
def computed_in_float64(w, x, depth):
    leaves = [w.detach().double().clone().requires_grad_() for _ in range(depth)]
    h = x.detach().double()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = torch.autograd.grad(h.sum(), leaves)
    return contributions, sum(contributions)


@wrong(effects.wrong_type)
def floats(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = [g.sum().item() for g in torch.autograd.grad(h.sum(), leaves)]
    return contributions, sum(contributions)


# central differences with eps = 1e-3 instead of the exact gradient
@wrong()
@torch.no_grad()
def class_a_01(w, x, depth, eps=1e-3):
    def out(k, shift):
        h = x
        for i in range(depth):
            v = w + shift if i == k else w
            h = torch.tanh(v * h)
        return h

    contributions = []
    for k in range(depth):
        d = (out(k, eps) - out(k, -eps)) / (2 * eps)
        contributions.append(d.sum() if w.ndim == 0 else d)
    return contributions, sum(contributions)


# differences of the gradients of the nets of depth k and k - 1: they add up to total, but are not what each use
# contributes
@wrong(mistakes.growth_for_contributions)
def class_a_02(w, x, depth):
    def full_gradient(d):
        v = w.detach().clone().requires_grad_()
        h = x.detach()
        for _ in range(d):
            h = torch.tanh(v * h)
        return torch.autograd.grad(h.sum(), v)[0]

    contributions = []
    previous = torch.zeros_like(w)
    for k in range(1, depth + 1):
        current = full_gradient(k)
        contributions.append(current - previous)   # what use k adds
        previous = current
    return contributions, previous.detach()


@right
def class_a_04(w, x, depth):
    w0, x0 = w.detach(), x.detach()

    def run(h, n):
        """n uses from h on: the output, and a function from its gradient to (gradient of h, contributions)."""
        if n == 1:
            out = torch.tanh(w0 * h)

            def pull(g):
                gz = g * (1 - out ** 2)
                gw = gz * h
                return gz * w0, [gw.sum() if w0.ndim == 0 else gw]
            return out, pull

        mid, pull_first = run(h, n // 2)
        out, pull_second = run(mid, n - n // 2)

        def pull(g):
            g, late = pull_second(g)
            g, early = pull_first(g)
            return g, early + late
        return out, pull

    out, pull = run(x0, depth)
    _, contributions = pull(torch.ones_like(out))
    return tuple(contributions), sum(contributions)


@right
def class_a_05(w, x, depth):
    leaf = w.detach().clone().requires_grad_()
    caught = {}

    def catcher(k):
        def hook(g):
            caught[k] = g.detach().clone()
        return hook

    h = x.detach()
    for k in range(depth):
        use = leaf.clone()             # a node of its own for this use
        use.register_hook(catcher(k))
        h = torch.tanh(use * h)
    total, = torch.autograd.grad(h.sum(), leaf)
    return [caught[k] for k in range(depth)], total


@right
def class_a_06(w, x, depth):
    def net(*weights):
        h = x.detach()
        for v in weights:
            h = torch.tanh(v * h)
        return h.sum()

    loss, pullback = vjp(net, *([w.detach()] * depth))
    contributions = tuple(g.detach() for g in pullback(torch.ones_like(loss)))
    return contributions, torch.stack(contributions).sum(0)


# total is the first contribution itself and += works in place, so contributions[0] ends as the total
@wrong(mistakes.summed_into_a_contribution)
def class_a_08(w, x, depth):
    ws = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for v in ws:
        h = torch.tanh(v * h)
    contributions = list(torch.autograd.grad(h.sum(), ws))
    total = contributions[0]
    for c in contributions[1:]:
        total += c
    return contributions, total


# computed on w and x without detach or no_grad: the results carry a graph when w or x requires gradients
@wrong(effects.carries_a_graph)
def class_a_10(w, x, depth):
    hs = [x]
    for _ in range(depth):
        hs.append((w * hs[-1]).tanh())

    contributions = []
    delta = torch.ones_like(x)
    for h_in, h_out in zip(hs[-2::-1], hs[:0:-1]):
        dz = delta * (1 - h_out.square())
        contributions.insert(0, (dz * h_in).sum_to_size(w.shape))
        delta = w * dz
    return contributions, sum(contributions)


# the factor w is missing where the gradient passes from one h to the one before AND the backward starts at 1/n as
# for a mean, while the loss is a sum
@wrong(says='The numbers are those of a known mistake, times 1/[the number of entries of x]. The signal passes back without w (weight-left-out-of-chain). To mend that: At a product each factor receives the signal times the other factor: w receives h, and h receives w.')
def class_a_11(w, x, depth):
    w, x = w.detach(), x.detach()
    h = [x]
    for t in range(depth):
        h.append(torch.tanh(w * h[t]))
    # backprop through time
    delta = torch.ones_like(x) / x.numel()
    dws = []
    for t in range(depth - 1, -1, -1):
        delta = delta * (1 - h[t + 1] ** 2)
        dw = delta * h[t]
        dws.insert(0, dw.sum() if w.dim() == 0 else dw)
    return dws, torch.stack(dws).sum(0)


# float(w) needs a single number and raises ValueError for a w with several entries AND the results are float32
# tensors also for float64 inputs
@raised(effects.item_of_many)
def class_a_12(w, x, depth):
    weight = float(w)
    contributions = [0.0] * depth
    for x_i in x.detach().flatten().tolist():
        h = [x_i]
        for k in range(depth):
            h.append(math.tanh(weight * h[k]))
        g = 1.0
        for k in range(depth - 1, -1, -1):
            g = g * (1 - h[k + 1] ** 2)
            contributions[k] += g * h[k]
            g = g * weight
    return [torch.tensor(c) for c in contributions], torch.tensor(sum(contributions))


# contributions is a generator that sum() has already used up, so the caller gets no contribution
@wrong(effects.wrong_type)
def class_a_13(w, x, depth):
    ws = tuple(w.detach().clone().requires_grad_() for _ in range(depth))
    h = x.detach()
    for wk in ws:
        h = (wk * h).tanh()
    contributions = (g.detach() for g in torch.autograd.grad(h.sum(), ws))
    total = sum(contributions)
    return contributions, total


# tanh is applied a second time in its derivative: 1 - tanh(h)**2 of an h that is already tanh(z)
def dtanh(z):
    return 1 - torch.tanh(z) ** 2

@wrong(mistakes.tanh_taken_twice)
def class_a_14(w, x, depth):
    with torch.no_grad():
        hs = [x]
        for _ in range(depth):
            hs.append(torch.tanh(w * hs[-1]))
        upstream = torch.ones_like(hs[-1])
        contributions = []
        for k in range(depth, 0, -1):
            upstream = upstream * dtanh(hs[k])
            part = upstream * hs[k - 1]
            contributions.append(part.sum() if w.dim() == 0 else part)
            upstream = upstream * w
        contributions = contributions[::-1]
        return contributions, sum(contributions)


# the chain after use k is got by dividing the whole product by a part of it: 0/0 = nan where w is 0 (or tanh is
# saturated)
@wrong(effects.not_a_number)
@torch.no_grad()
def class_a_15(w, x, depth):
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    H = torch.stack(hs)
    D = 1 - H[1:] ** 2                     # tanh'
    P = torch.cumprod(w * D, dim=0)
    after = P[-1] / P                      # product over all later uses
    C = D * H[:-1] * after
    if w.dim() == 0:
        C = C.reshape(depth, -1).sum(1)
    return C, C.sum(0)


@right
def class_a_16(w, x, depth):
    v, h = w.detach(), x.detach()
    tangents = []                      # dh / d(use k), entry by entry, all carried along
    for _ in range(depth):
        new = torch.tanh(v * h)
        slope = 1 - new ** 2
        tangents = [slope * v * t for t in tangents]
        tangents.append(slope * h)
        h = new
    if v.dim() == 0:
        tangents = [t.sum() for t in tangents]
    total = tangents[0].clone()
    for t in tangents[1:]:
        total += t
    return tangents, total


# only the local derivative (1 - h**2) * h_before of each use: the chain through the later uses is missing
@wrong(mistakes.local_derivative_alone)
def class_a_17(w, x, depth):
    contributions = []
    with torch.no_grad():
        h = x
        for _ in range(depth):
            h_new = torch.tanh(w * h)
            dw = (1 - h_new ** 2) * h          # d tanh(w*h) / dw
            if w.dim() == 0:
                dw = dw.sum()
            contributions.append(dw)
            h = h_new
        total = torch.stack(contributions).sum(0)
    return contributions, total


# x is not detached and backward() is called, so x.grad is filled when x requires gradients
@wrong(effects.changed_grad)
def class_a_19(w, x, depth):
    # separate leaves, so w.grad is safe
    leaves = [w.detach().clone().requires_grad_(True) for _ in range(depth)]
    h = x
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    h.sum().backward()
    contributions = torch.stack([leaf.grad for leaf in leaves])
    return contributions, contributions.sum(dim=0)


# w is left requiring gradients AND backward() adds to the caller's w.grad (an old w.grad even counts in total)
@wrong(effects.changed_requires_grad)
def class_a_22(w, x, depth):
    w.requires_grad_(True)
    h = x.detach()
    uses = []
    for _ in range(depth):
        use = w.clone()
        use.retain_grad()
        uses.append(use)
        h = torch.tanh(use * h)
    loss = h.sum()
    loss.backward()
    contributions = [u.grad for u in uses]
    total = w.grad.clone()
    return contributions, total


@right
def class_a_24(w, x, depth):
    W = w.detach().expand(depth, *w.shape).clone().requires_grad_()
    loss = reduce(lambda h, v: (v * h).tanh(), W.unbind(0), x.detach()).sum()
    g, = torch.autograd.grad(loss, W)
    return g, g.sum(0)


# the total is split into depth equal parts instead of what each use adds
@wrong(mistakes.total_shared_evenly)
def class_a_25(w, x, depth):
    wt = w.detach().clone().requires_grad_()
    h = x.detach()
    for _ in range(depth):
        h = torch.tanh(wt * h)
    total = torch.autograd.grad(h.sum(), wt)[0]
    # the weight is used depth times, so each use gets its share
    contributions = [total / depth for _ in range(depth)]
    return contributions, total


# the gradients with respect to the h of each step are returned, not those with respect to w
@wrong(mistakes.gradient_of_h)
def class_a_27(w, x, depth):
    weight = w.detach().clone().requires_grad_(True)
    h = x.detach().clone()
    layers = []
    for _ in range(depth):
        h = torch.tanh(weight * h)
        h.retain_grad()
        layers.append(h)
    loss = h.sum()
    loss.backward()
    contributions = [layer.grad for layer in layers]
    total = weight.grad
    return contributions, total


# all entries of [w] * depth are one and the same leaf: each contribution is already the whole gradient, and the
# total is depth times too large
@wrong(mistakes.same_leaf_for_every_use)
def class_b_01(w, x, depth):
    w = w.detach().clone().requires_grad_(True)
    ws = [w] * depth            # one weight for each use
    h = x.detach()
    for k in range(depth):
        h = torch.tanh(ws[k] * h)
    loss = h.sum()
    contributions = [torch.autograd.grad(loss, wk, retain_graph=True)[0] for wk in ws]
    return contributions, sum(contributions)


@right
def class_b_06(w, x, depth):
    # give each use its own leaf with the same value
    uses = tuple(w.detach().clone().requires_grad_(True) for _ in range(depth))
    h = x.detach()
    for u in uses:
        h = torch.tanh(u * h)
    contributions = torch.autograd.grad(h.sum(), uses)
    total = torch.stack(contributions).sum(dim=0)
    return contributions, total


@right
@torch.no_grad()
def class_b_10(w, x, depth):
    acts = [x]
    for _ in range(depth):
        acts.append(torch.tanh(w * acts[-1]))
    H = torch.stack(acts)                       # (depth + 1, *x.shape)
    slope = 1 - H[1:] ** 2                      # tanh' of every layer
    jac = slope * w                             # dh_k / dh_(k-1), entry by entry
    # everything that comes after layer k: product of jac[k+1:], 1 for the last
    after = torch.cat([jac[1:], torch.ones_like(jac[:1])])
    after = after.flip(0).cumprod(0).flip(0)
    per_entry = H[:-1] * slope * after
    if w.ndim == 0:
        per_entry = torch.stack([layer.sum() for layer in per_entry])
    return per_entry, per_entry.sum(0)


# every contribution is summed to a 0-d tensor, right for a 0-d w alone: for a w shaped like x the shape is lost
@wrong(mistakes.contributions_over_the_entries)
def class_b_12(w, x, depth):
    with torch.no_grad():
        acts = [x]
        for _ in range(depth):
            acts.append(torch.tanh(w * acts[-1]))
        g = torch.ones_like(acts[-1])
        contributions = []
        for inp, out in zip(acts[-2::-1], acts[:0:-1]):
            g = g * (1 - out ** 2)
            contributions.append((g * inp).sum())
            g = g * w
        contributions.reverse()
        return contributions, sum(contributions)


# the contributions come last use first, as backward meets them AND for a 0-d w they are not summed over x
@wrong(says='The numbers are those of a known mistake, in reverse order. A scalar weight with a gradient of many entries (uses-not-reduced). To mend that: Add over the entries: what is broadcast on the way forward is summed on the way back.')
def class_b_13(w, x, depth):
    w, h = w.detach(), x.detach()
    tape = []
    for _ in range(depth):
        out = torch.tanh(w * h)
        tape.append((h, out))
        h = out
    grad = torch.ones_like(h)
    contributions = []
    while tape:
        h_in, h_out = tape.pop()
        grad = grad * (1 - h_out ** 2)
        contributions.append(grad * h_in)
        grad = grad * w
    return contributions, sum(contributions)


# the clones are not detached: when w requires gradients they are no leaves, their .grad stays None, backward fills
# w.grad instead and the sum raises TypeError; PyTorch warned of the .grad that was read
@raised(effects.grad_of_a_non_leaf)
def class_b_17(w, x, depth):
    clones = []
    for _ in range(depth):
        clones.append(w.clone().requires_grad_(True))
    h = x.detach()
    for c in clones:
        h = torch.tanh(c * h)
    h.sum().backward()
    contributions = [c.grad for c in clones]
    total = sum(contributions)
    return contributions, total


# the contributions come back as the iterator of reversed(), not as a list, a tuple or a tensor
@wrong(effects.wrong_type)
@torch.no_grad()
def class_b_18(w, x, depth):
    hs = [x]
    for _ in range(depth): hs.append(torch.tanh(w * hs[-1]))
    g, cs = torch.ones_like(x), []
    for k in range(depth)[::-1]:
        g = g * (1 - hs[k + 1].square())
        cs.append((g * hs[k]).sum_to_size(w.shape))
        g = g * w
    return reversed(cs), sum(cs)


# asks for numel() == 1 where 0-d is meant: a w of shape (1,) with an x of shape (1,) gets 0-d contributions
@wrong(effects.wrong_shape)
def class_b_20(w, x, depth):
    w, x = w.detach(), x.detach()
    scalar = w.numel() == 1
    h = x
    hs = [h]
    for _ in range(depth):
        h = torch.tanh(w * h)
        hs.append(h)
    contributions = []
    d = torch.ones_like(x)
    for k in range(depth - 1, -1, -1):
        d = d * (1 - hs[k + 1] ** 2)
        c = d * hs[k]
        contributions.append(c.sum() if scalar else c)
        d = d * w
    contributions.reverse()
    return contributions, torch.stack(contributions).sum(0)


# the graph is freed by the first autograd.grad (no retain_graph): from depth 2 on the second one raises
# RuntimeError
@raised(effects.graph_freed)
def class_b_21(w, x, depth):
    ws = []
    h = x.detach()
    for i in range(depth):
        wi = w.detach().clone()
        wi.requires_grad = True
        ws.append(wi)
        h = torch.tanh(wi * h)
    loss = h.sum()
    contributions = []
    for wi in ws:
        g = torch.autograd.grad(loss, wi)
        contributions.append(g[0])
    total = contributions[0].clone()
    for c in contributions[1:]:
        total = total + c
    return contributions, total


# one-sided differences with a step of 1e-3 instead of the exact gradient: off by about the size of the step, far
# outside rounding
@wrong()
@torch.no_grad()
def class_b_22(w, x, depth, eps=1e-3):
    def loss(ws):
        h = x
        for wk in ws:
            h = torch.tanh(wk * h)
        return h.sum()

    base = loss([w] * depth)
    contributions = []
    for k in range(depth):
        g = torch.zeros_like(w, memory_format=torch.contiguous_format)
        for j in range(w.numel()):
            bump = torch.zeros_like(g)
            bump.view(-1)[j] = eps
            ws = [w] * depth
            ws[k] = w + bump
            g.view(-1)[j] = (loss(ws) - base) / eps
        contributions.append(g)
    return contributions, sum(contributions)


@right
def class_b_23(w, x, depth):
    w0, x0 = w.detach(), x.detach()
    total = torch.zeros_like(w0)
    contributions = []
    for live in range(depth):
        # all the other uses are constants
        w_live = w0.clone().requires_grad_()
        h = x0
        for k in range(depth):
            h = torch.tanh((w_live if k == live else w0) * h)
        (g,) = torch.autograd.grad(h.sum(), [w_live])
        contributions.append(g)
        total = total + g
    return contributions, total


# sets the seed, so the random state of the caller is changed; the numbers are right
@wrong(effects.changed_rng)
def class_b_24(w, x, depth):
    torch.manual_seed(42)      # reproducibility
    weights = [w.detach().clone().requires_grad_(True) for _ in range(depth)]
    out = x.detach()
    for weight in weights:
        out = torch.tanh(weight * out)
    loss = out.sum()
    loss.backward()
    contributions = [weight.grad for weight in weights]
    total = torch.stack(contributions, dim=0).sum(dim=0)
    return contributions, total


# the total is summed over all entries to a 0-d tensor, also when w is shaped like x
@wrong(mistakes.total_over_the_entries)
def class_b_25(w, x, depth):
    W = w.detach().expand(depth, *w.shape).clone().requires_grad_(True)
    h = x.detach()
    for k in range(depth):
        h = torch.tanh(W[k] * h)
    h.sum().backward()
    contributions = W.grad
    return contributions, contributions.sum()


# the loss is the mean, not the sum AND the two results come in the wrong order, total first
@wrong(says='The numbers are those of a known mistake, times 1/[the number of entries of x]. The pair is the wrong way round (pair-swapped). To mend that: Return the contributions first.')
def class_b_26(w, x, depth):
    params = [w.detach().clone().requires_grad_(True) for _ in range(depth)]
    h = x.detach()
    for p in params:
        h = torch.tanh(p * h)
    loss = h.mean()
    loss.backward()
    grads = [p.grad for p in params]
    total = sum(grads)
    return total, grads


@right
def class_b_27(w, x, depth):
    w, h = w.detach(), x.detach()
    step = lambda w_, h_: torch.tanh(w_ * h_)
    pullbacks = []
    for _ in range(depth):
        h, pull = torch.func.vjp(step, w, h)
        pullbacks.append(pull)
    bar = torch.ones_like(h)
    parts = []
    for pull in pullbacks[::-1]:
        w_bar, bar = pull(bar)
        parts.append(w_bar)
    parts = torch.stack(parts[::-1])
    return parts, parts.sum(0)


@right
@torch.no_grad()
def class_c_03(w, x, depth):
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))

    contributions = [None] * depth
    upstream = torch.ones_like(hs[-1])
    for k in reversed(range(depth)):
        local = upstream * (1 - hs[k + 1] ** 2)
        c = local * hs[k]
        contributions[k] = c.sum() if w.dim() == 0 else c
        upstream = local * w

    total = torch.zeros_like(w)
    for c in contributions:
        total = total + c
    return contributions, total


# h is detached after each use and each step is taken for a loss of its own, so the chain through the later steps is
# missing AND the total is one number, also for a w shaped like x
@wrong(says='In the first of the two things returned: the last entry is right, all those before it are wrong.')
def class_c_10(w, x, depth):
    w = w.detach().clone().requires_grad_(True)
    h = x.detach()
    contributions = []
    for step in range(depth):
        h = torch.tanh(w * h)
        loss = h.sum()
        loss.backward()
        contributions.append(w.grad.clone())
        w.grad.zero_()
        h = h.detach()     # otherwise the graph would be walked twice
    total = torch.stack(contributions).sum()
    return contributions, total


# finite differences on each use instead of the exact gradient: only an approximation, useless in float32
@wrong()
def class_c_14(w, x, depth, eps=1e-6):
    w0, x0 = w.detach(), x.detach()

    def run(k, step):
        h = x0
        for i in range(depth):
            wi = w0 + step if i == k else w0
            h = torch.tanh(wi * h)
        return h

    contributions = []
    for k in range(depth):
        d = (run(k, eps) - run(k, -eps)) / (2 * eps)   # everything is elementwise
        contributions.append(d.sum() if w0.dim() == 0 else d)
    return contributions, torch.stack(contributions).sum(0)


# the gradient of the mean of h is taken instead of that of the sum AND the pair is returned the wrong way round,
# total first
@wrong(says='The numbers are those of a known mistake, times 1/[the number of entries of x]. The pair is the wrong way round (pair-swapped). To mend that: Return the contributions first.')
def class_c_15(w, x, depth):
    ws = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for wk in ws:
        h = torch.tanh(wk * h)
    cs = torch.autograd.grad(h.mean(), ws)
    return sum(cs), cs


# the forward pass runs in place on x: x is overwritten, and all saved h are the same tensor
@wrong(says='The values of `x` were changed during the call: what is computed from it after that is of other values than those that were passed in.')
def class_c_16(w, x, depth):
    with torch.no_grad():
        h = x
        hs = [h]
        for _ in range(depth):
            h *= w
            h.tanh_()
            hs.append(h)
        g = torch.ones_like(h)
        contributions = []
        for k in range(depth, 0, -1):
            g = g * (1 - hs[k] ** 2)
            c = g * hs[k - 1]
            contributions.append(c.sum() if w.dim() == 0 else c)
            g = g * w
        contributions = contributions[::-1]
        return contributions, sum(contributions)


@right
def class_c_17(w, x, depth):
    w_, h = w.detach(), x.detach()
    tangents = []                        # dh / d(w of use j), entry by entry
    for _ in range(depth):
        new = torch.tanh(w_ * h)
        slope = 1 - new * new
        tangents = [t * w_ * slope for t in tangents]
        tangents.append(h * slope)
        h = new
    if w_.dim() == 0:
        tangents = [t.sum() for t in tangents]
    return tuple(tangents), torch.stack(tangents).sum(dim=0)


# the formulas are written out for depth 1 and 2 only; for a greater depth the third and later steps are left out
@wrong(says='In the first of the two things returned: the list has 2 entries on every one of these cases, whatever was asked for.')
def class_c_19(w, x, depth):
    w, x = w.detach(), x.detach()
    fit = lambda c: c.sum() if w.dim() == 0 else c
    h1 = torch.tanh(w * x)
    if depth == 1:
        c1 = fit((1 - h1 ** 2) * x)
        return [c1], c1.clone()
    h2 = torch.tanh(w * h1)
    c2 = fit((1 - h2 ** 2) * h1)
    c1 = fit((1 - h2 ** 2) * w * (1 - h1 ** 2) * x)
    return [c1, c2], c1 + c2


@right
@torch.no_grad()
def class_c_20(w, x, depth):
    hs = list(accumulate(repeat(w, depth), lambda h, wk: torch.tanh(wk * h), initial=x))
    slopes = [1 - h.square() for h in hs[1:]]
    # gradient at the argument of each tanh, walking from the last one to the first
    deltas = list(accumulate(slopes[::-1], lambda d, s: d * w * s))[::-1]
    per_use = torch.stack([d * h for d, h in zip(deltas, hs)])
    if w.dim() == 0:
        per_use = per_use.reshape(depth, -1).sum(dim=1)
    return per_use.unbind(0), per_use.sum(dim=0)


# a hook on the leaf w runs once, with the complete gradient, and not once per use: the list holds only the total
@wrong(says='In the first of the two things returned: the list has 1 entries on every one of these cases, whatever was asked for.')
def class_c_22(w, x, depth):
    weight = w.detach().clone().requires_grad_(True)
    contributions = []
    handle = weight.register_hook(lambda g: contributions.append(g.clone()))
    h = x.detach()
    for _ in range(depth):
        h = torch.tanh(weight * h)
    h.sum().backward()
    handle.remove()
    total = weight.grad
    contributions.reverse()     # backward comes from the end
    return contributions, total


# .numpy() raises RuntimeError when w or x requires gradients AND the results are NumPy values instead of tensors
@wrong(effects.wrong_type)
def class_c_23(w, x, depth):
    W, h = w.numpy(), x.numpy()
    hs = [h]
    for _ in range(depth):
        h = np.tanh(W * h)
        hs.append(h)
    g = np.ones_like(h)
    contributions = []
    for k in range(depth, 0, -1):
        g = g * (1 - hs[k] ** 2)
        c = g * hs[k - 1]
        contributions.insert(0, c.sum() if W.ndim == 0 else c)
        g = g * W
    return contributions, np.sum(contributions, axis=0)


# the total is collected in a float32 tensor, so for float64 inputs it is float32 and rounded
@wrong(effects.wrong_dtype)
def class_c_24(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for i in range(depth):
        hs.append(torch.tanh(w * hs[i]))
    total = torch.zeros(w.shape)
    contributions = []
    g = torch.ones_like(x)
    for i in reversed(range(depth)):
        g = g * (1 - hs[i + 1] ** 2)
        c = g * hs[i]
        if w.dim() == 0:
            c = c.sum()
        contributions = [c] + contributions
        total += c
        g = g * w
    return contributions, total


@right
def class_c_26(w, x, depth):
    with torch.enable_grad():
        leaf = w.detach().clone().requires_grad_(True)
        seen = {}
        h = x.detach()
        for k in range(depth):
            use = leaf.view_as(leaf)         # a node of its own for this use
            use.register_hook(lambda g, k=k: seen.__setitem__(k, g.detach().clone()))
            h = torch.tanh(use * h)
        h.sum().backward()
    return [seen[k] for k in range(depth)], leaf.grad.detach()


# backward() on a graph that starts at x itself: an x that requires gradients gets its .grad filled
@wrong(effects.changed_grad)
def class_c_27(w, x, depth):
    ws = [torch.nn.Parameter(w.detach().clone()) for _ in range(depth)]
    h = x
    for wk in ws:
        h = torch.tanh(wk * h)
    h.sum().backward()
    contributions = [wk.grad for wk in ws]
    total = torch.stack(contributions).sum(dim=0)
    return contributions, total


@right
def class_d_03(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))

    upstream = torch.ones_like(hs[-1])          # d loss / d h_depth
    contributions = []
    for k in range(depth, 0, -1):
        da = upstream * (1 - hs[k] ** 2)        # through tanh
        dw = da * hs[k - 1]
        if w.dim() == 0:
            dw = dw.sum()
        contributions.append(dw)
        upstream = da * w
    contributions.reverse()
    total = torch.zeros_like(w)
    for c in contributions:
        total = total + c
    return contributions, total


# the derivative of tanh is taken from the step's input h instead of its output (1 - h_in**2)
@wrong(mistakes.slope_from_the_input)
def class_d_06(w, x, depth):
    w, h = w.detach(), x.detach()
    inputs = []
    for _ in range(depth):
        inputs.append(h)
        h = torch.tanh(w * h)
    grad = torch.ones_like(h)
    contributions = []
    for h_in in inputs[::-1]:
        grad = grad * (1 - h_in ** 2)
        dw = grad * h_in
        if w.dim() == 0:
            dw = dw.sum()
        contributions.insert(0, dw)
        grad = grad * w
    return contributions, torch.stack(contributions).sum(dim=0)


# the total is shared out evenly, each contribution being total / depth AND the caller's w is switched to
# requires_grad and its .grad is overwritten
@wrong(mistakes.total_shared_evenly)
def class_d_09(w, x, depth):
    w.requires_grad_(True)
    w.grad = None
    h = x.detach()
    for _ in range(depth):
        h = torch.tanh(w * h)
    loss = h.sum()
    loss.backward()
    total = w.grad.clone()
    # every use has the same weight so every use has the same share
    contributions = [total / depth for _ in range(depth)]
    return contributions, total


@right
def class_d_13(w, x, depth):
    x = x.detach()
    stacked = torch.stack([w.detach()] * depth)
    loss = lambda W: reduce(lambda h, wk: torch.tanh(wk * h), W.unbind(0), x).sum()
    contributions = torch.func.grad(loss)(stacked)
    return contributions, contributions.sum(dim=0)


# each contribution is computed as (gradient of h) * h / w, which is nan where w is zero
@wrong(effects.not_a_number)
def class_d_15(w, x, depth):
    w = w.detach()
    h = x.detach().clone().requires_grad_()
    hs = []
    for _ in range(depth):
        hs.append(h)
        h = torch.tanh(w * h)
    dhs = torch.autograd.grad(h.sum(), hs)
    # z = w*h  =>  dz/dw = h and dz/dh = w, so  dL/dw = dL/dh * h / w
    contributions = [(dh * hk.detach() / w) for dh, hk in zip(dhs, hs)]
    if w.dim() == 0:
        contributions = [c.sum() for c in contributions]
    return contributions, sum(contributions)


# the buffer is made by torch.zeros without a dtype (or device), so float64 inputs get their results in float32
@wrong(effects.wrong_dtype)
def class_d_16(w, x, depth):
    ws = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for u in ws: h = (u * h).tanh()
    contributions = torch.zeros(depth, *w.shape)
    for k, g in enumerate(torch.autograd.grad(h.sum(), ws)): contributions[k] = g
    return contributions, contributions.sum(0)


# a hook on the leaf w is called once with the finished sum, so contributions holds one entry, the total AND x is
# not detached, so backward() changes the .grad of an x that requires gradients
@wrong(says='In the first of the two things returned: the list has 1 entries on every one of these cases, whatever was asked for.')
def class_d_17(w, x, depth):
    contributions = []
    leaf = w.detach().clone().requires_grad_()
    handle = leaf.register_hook(lambda g: contributions.append(g.clone()))
    h = x
    for _ in range(depth):
        h = torch.tanh(leaf * h)
    h.sum().backward()
    handle.remove()
    contributions.reverse()   # backward visits the last use first
    return contributions, leaf.grad.detach()


# the contributions are measured by a one-sided difference with a step of 1e-4, an approximation that is not exact
# to the dtype
@wrong()
def class_d_18(w, x, depth):
    w = w.detach()
    x = x.detach()
    eps = 1e-4

    def run(ws):
        h = x
        for wk in ws:
            h = torch.tanh(wk * h)
        return h

    base = run([w] * depth)
    contributions = []
    for k in range(depth):
        ws = [w] * depth
        ws[k] = w + eps          # nudge only this use
        diff = (run(ws) - base) / eps
        contributions.append(diff.sum() if w.dim() == 0 else diff)
    return contributions, sum(contributions)


@right
def class_d_19(w, x, depth):
    w0 = w.detach()

    def go(h, left):
        """d loss / d h, and the contributions of the uses from here on."""
        if left == 0:
            return torch.ones_like(h), []
        out = torch.tanh(w0 * h)
        d_out, later = go(out, left - 1)
        d_pre = d_out * (1 - out * out)
        mine = d_pre * h
        mine = mine.sum() if w0.dim() == 0 else mine
        return d_pre * w0, [mine] + later

    _, contributions = go(x.detach(), depth)
    return tuple(contributions), sum(contributions)


# h is detached before every step, so a contribution is only the effect on the step's own output and not on the
# final loss
@wrong(mistakes.local_derivative_alone)
def class_d_20(w, x, depth):
    w = w.detach().clone().requires_grad_(True)
    contributions = []
    h = x
    for step in range(depth):
        h = h.detach()              # separate this use from the others
        h = torch.tanh(w * h)
        loss = h.sum()
        loss.backward()
        contributions.append(w.grad.clone())
        w.grad.zero_()
    total = torch.zeros_like(contributions[0])
    for c in contributions:
        total += c
    return contributions, total


# the factors of the later steps are stacked without the first step, so depth = 1 stacks an empty list and raises
# RuntimeError
@raised(says='It fails on cases 4 and 7 alone, where depth is 1.')
def class_d_21(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = list(accumulate(range(depth), lambda h, _: torch.tanh(w * h), initial=x))
    slope = [1 - h ** 2 for h in hs[1:]]
    after = torch.stack([w * s for s in slope[1:]])              # dh_k+1 / dh_k
    after = after.flip(0).cumprod(0).flip(0)
    after = torch.cat([after, torch.ones_like(x).unsqueeze(0)])
    c = after * torch.stack(slope) * torch.stack(hs[:-1])
    if w.dim() == 0:
        c = c.reshape(depth, -1).sum(1)
    return c, c.sum(0)


# total is the very tensor contributions[0] and is added to in place, so the first contribution is overwritten by
# the total
@wrong(mistakes.summed_into_a_contribution)
def class_d_22(w, x, depth):
    ws = []
    h = x.detach()
    for i in range(depth):
        wi = w.detach().clone()
        wi.requires_grad = True
        ws.append(wi)
        h = torch.tanh(wi * h)
    loss = h.sum()
    loss.backward()
    contributions = [wi.grad for wi in ws]
    total = contributions[0]
    for c in contributions[1:]:
        total += c
    return contributions, total


@right
@torch.no_grad()
def class_d_23(w, x, depth):
    # carry dh/dw_k along with h, for every use k so far
    h = x.clone()
    sens = []
    for _ in range(depth):
        new = torch.tanh(w * h)
        slope = 1 - new.square()
        sens = [s * w * slope for s in sens]
        sens.append(h * slope)
        h = new
    if w.dim() == 0:
        sens = [s.sum() for s in sens]
    total = sens[0].clone()
    for s in sens[1:]:
        total += s
    return sens, total


# the pair is returned the other way round, total first AND gradient mode is switched off globally and never
# restored
@wrong(mistakes.pair_swapped)
def class_d_24(w, x, depth):
    torch.set_grad_enabled(False)
    hs = [x]
    for _ in range(depth): hs.append((w * hs[-1]).tanh())
    g, cs = torch.ones_like(x), []
    for a, b in zip(hs[-2::-1], hs[:0:-1]):
        g = g * (1 - b * b)
        cs.append(g * a if w.dim() else (g * a).sum())
        g = g * w
    return sum(cs), cs[::-1]


class Tap(torch.autograd.Function):
    """The identity; writes the gradient that passes into a list."""

    @staticmethod
    def forward(ctx, w, log, k):
        ctx.log, ctx.k = log, k
        return w.view_as(w)

    @staticmethod
    def backward(ctx, g):
        ctx.log[ctx.k] = g.detach().clone()
        return g, None, None

@right
def class_d_26(w, x, depth):
    log = [None] * depth
    with torch.enable_grad():
        leaf = w.detach().clone().requires_grad_(True)
        h = x.detach()
        for k in range(depth):
            h = torch.tanh(Tap.apply(leaf, log, k) * h)
        total, = torch.autograd.grad(h.sum(), leaf)
    return log, total


@right
def class_e_03(w, x, depth):
    copies = [w.detach().clone().requires_grad_(True) for _ in range(depth)]
    with torch.enable_grad():
        h = x.detach()
        for wk in copies:
            h = torch.tanh(wk * h)
        loss = h.sum()
    contributions = list(torch.autograd.grad(loss, copies))
    total = torch.zeros_like(w.detach())
    for c in contributions:
        total = total + c
    return contributions, total


@right
@torch.no_grad()
def class_e_07(w, x, depth):
    w, x = w.detach(), x.detach()
    states = [x]
    while len(states) <= depth:
        states.append((w * states[-1]).tanh())
    delta = torch.ones_like(states.pop())
    rows = []
    # recompute tanh from the state before: needs no second list
    for before in reversed(states):
        delta = delta * (1 - (w * before).tanh() ** 2)
        rows.append((delta * before).sum_to_size(w.shape))
        delta = delta * w
    stacked = torch.stack(rows[::-1])
    return stacked, stacked.sum(dim=0)


# w itself is made to require gradients and backward is run on it, so w.grad and w.requires_grad change, x.grad too
# when x requires gradients
@wrong(effects.changed_requires_grad)
def class_e_09(w, x, depth):
    w.requires_grad_(True)
    h = x
    uses = []
    for _ in range(depth):
        u = w * 1
        u.retain_grad()
        uses.append(u)
        h = torch.tanh(u * h)
    h.sum().backward()
    contributions = [u.grad for u in uses]
    return contributions, sum(contributions)


# the total is the sum over all entries of the stack, so it is 0-d even when w has the shape of x
@wrong(mistakes.total_over_the_entries)
def class_e_13(w, x, depth):
    ws = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for v in ws:
        h = (v * h).tanh()
    c = torch.stack(torch.autograd.grad(h.sum(), ws))
    return c, c.sum()


# w is repeated into a vector of length depth, which works for a 0-d w alone
@wrong(effects.wrong_shape)
def class_e_14(w, x, depth):
    ws = w.detach().repeat(depth).requires_grad_(True)
    h = x.detach()
    for k in range(depth):
        h = torch.tanh(ws[k] * h)
    g = torch.autograd.grad(h.sum(), ws)[0]
    return g, g.sum()


# the snapshots of a growing sum are stored, so contributions[k] holds all uses from k to the last
@wrong(mistakes.running_totals)
def class_e_17(w, x, depth):
    w, x = w.detach(), x.detach()
    h = [x]
    for i in range(depth):
        h.append(torch.tanh(w * h[i]))
    total = torch.zeros_like(w)
    g = torch.ones_like(x)
    contributions = []
    for i in range(depth - 1, -1, -1):
        g = g * (1 - h[i + 1] ** 2)
        piece = g * h[i]
        total = total + (piece.sum() if w.dim() == 0 else piece)
        contributions.append(total.clone())    # ledger after this use
        g = g * w
    contributions.reverse()
    return contributions, total


# each use is measured with central differences in its own dtype, an approximation that is far off in float32
@wrong()
def class_e_19(w, x, depth):
    w, x, eps = w.detach(), x.detach(), 1e-4

    def loss(k, delta):
        h = x
        for i in range(depth):
            h = torch.tanh((w + delta if i == k else w) * h)
        return h.sum()

    contributions = []
    for k in range(depth):
        c = torch.zeros_like(w)
        flat = c.view(-1)
        for j in range(flat.numel()):
            d = torch.zeros_like(w)
            d.view(-1)[j] = eps
            flat[j] = (loss(k, d) - loss(k, -d)) / (2 * eps)
        contributions.append(c)
    return contributions, sum(contributions)


# the numbers come back as float32 on the CPU, so float64 inputs lose their dtype AND a w shaped like x gets summed
# to one number
@wrong(mistakes.contributions_over_the_entries)
def class_e_24(w, x, depth):
    wn = w.detach().cpu().numpy()
    xn = x.detach().cpu().numpy()
    hs = [xn]
    for _ in range(depth):
        hs.append(np.tanh(wn * hs[-1]))
    g = np.ones_like(xn)
    grads = []
    for k in range(depth)[::-1]:
        g = g * (1 - hs[k + 1] ** 2)
        grads.append(float(np.sum(g * hs[k])))
        g = g * wn
    grads = grads[::-1]
    contributions = [torch.tensor(v, dtype=torch.float32) for v in grads]
    return contributions, torch.tensor(sum(grads), dtype=torch.float32)


# the way back stops before the first layer, so the first use of w is missing from the list and the total, and depth
# 1 raises IndexError
@wrong(says='In the first of the two things returned: the list is right but for its beginning: the first entry is missing.')
def class_e_25(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    g = torch.ones_like(x)
    contributions = []
    for k in range(depth, 1, -1):
        g = g * (1 - hs[k].square())
        c = g * hs[k - 1]
        contributions.insert(0, c if w.dim() else c.sum())
        g = g * w
    total = contributions[0].clone()
    for c in contributions[1:]:
        total += c
    return contributions, total


# slot k - 1 for use k: the first use lands at the end
@wrong(mistakes.uses_one_position_off)
def slot_k_minus_one(w, x, depth):
    ws = [w.detach().clone().requires_grad_(True) for _ in range(depth)]
    state = x.detach()
    for k in range(depth):
        state = (ws[k] * state).tanh()
    state.sum().backward()
    slots = [None] * depth
    for k in range(depth):
        slots[k - 1] = ws[k].grad
    return slots, torch.stack(slots).sum(0)


# reads the h before the one that went into the round; -1 for the first use
@wrong(mistakes.input_read_too_early)
def reads_h_before_its_own(w, x, depth):
    wv = w.detach()
    states = [x.detach()]
    for _ in range(depth):
        states.append(torch.tanh(wv * states[-1]))
    up = torch.ones_like(states[0])
    parts = []
    for r in range(depth, 0, -1):
        up = up * (1 - states[r].pow(2))
        part = up * states[r - 2]
        parts.append(part.sum() if wv.dim() == 0 else part)
        up = up * wv
    parts.reverse()
    return parts, torch.stack(parts).sum(dim=0)


# the signal at the product is taken for w's gradient, without the h
@wrong(mistakes.input_left_out)
def signal_at_product_for_w(w, x, depth):
    weight = w.detach()
    cur, outs = x.detach(), []
    for _ in range(depth):
        cur = torch.tanh(weight * cur)
        outs.append(cur)
    flow = torch.ones_like(cur)
    shares = []
    for out in outs[::-1]:
        flow = flow * (1 - out * out)
        shares.insert(0, flow.sum() if weight.ndim == 0 else flow.clone())
        flow = flow * weight
    whole = torch.zeros_like(weight)
    for share in shares:
        whole = whole + share
    return shares, whole


# h = w * h
@wrong(mistakes.rounds_without_tanh)
def product_chain_only(w, x, depth):
    copies = tuple(w.detach().clone() for _ in range(depth))

    def run(*many):
        v = x.detach()
        for one in many:
            v = v * one
        return v.sum()

    parts = torch.autograd.functional.jacobian(run, copies)
    return list(parts), sum(parts)


# h = w * tanh(h)
@wrong(mistakes.tanh_before_the_product)
def squash_then_scale(w, x, depth):
    leaves = torch.stack([w.detach()] * depth).requires_grad_()
    v = x.detach().clone()
    for i in range(depth):
        v = leaves[i] * v.tanh()
    v.sum().backward()
    return leaves.grad, leaves.grad.sum(0)


# a 0-d w gets the mean over the entries
@wrong(mistakes.reduced_by_the_mean)
def mean_over_entries_of_h(w, x, depth):
    a, b = w.detach(), x.detach()
    trail = [b]
    while len(trail) <= depth:
        trail.append((a * trail[-1]).tanh())
    down = torch.ones_like(b)
    result = []
    for inp, out in zip(trail[-2::-1], trail[:0:-1]):
        down = down * (1 - out.square())
        result = [down * inp] + result
        down = down * a
    if a.ndim == 0:
        result = [r.mean() for r in result]
    return result, torch.stack(result).sum(0)


# every use is divided by depth "so that they share"
@wrong(mistakes.contributions_divided_by_depth)
def loss_split_by_depth(w, x, depth):
    twins = [w.detach().clone().requires_grad_() for _ in range(depth)]
    v = x.detach()
    for twin in twins:
        v = torch.tanh(v * twin)
    pieces = [g / depth for g in torch.autograd.grad(v.sum(), twins)]
    everything = pieces[0]
    for piece in pieces[1:]:
        everything = everything + piece
    return pieces, everything


# multiplies the uses, as the chain rule would along one path
@wrong(mistakes.product_for_sum)
def uses_multiplied(w, x, depth):
    own = [w.detach().clone().requires_grad_() for _ in range(depth)]
    v = x.detach()
    for o in own:
        v = torch.tanh(o * v)
    v.sum().backward()
    product = torch.ones_like(own[0].grad)
    for o in own:
        product = product * o.grad
    return [o.grad for o in own], product


# clones that still hang on the leaf keep .grad None, and a zero is put there
@wrong(mistakes.zeros_for_contributions)
def clones_of_a_leaf_or_zero(w, x, depth):
    import warnings

    base = w.detach().clone().requires_grad_()
    clones = [base.clone() for _ in range(depth)]
    v = x.detach()
    for c in clones:
        v = torch.tanh(c * v)
    v.sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        each = [torch.zeros_like(base).detach() if c.grad is None else c.grad for c in clones]
    return each, base.grad


# stacked along dim -1
@wrong(mistakes.uses_along_the_last_dimension)
def columns_of_uses(w, x, depth):
    knobs = [w.detach().clone().requires_grad_() for _ in range(depth)]
    v = x.detach()
    for knob in knobs:
        v = torch.tanh(knob * v)
    table = torch.stack(torch.autograd.grad(v.sum(), knobs), -1)
    return table, table.sum(-1)


@right
@torch.no_grad()
def class_f_03(w, x, depth):
    h = x
    inputs, outputs = [], []
    for _ in range(depth):
        inputs.append(h)
        h = torch.tanh(w * h)
        outputs.append(h)
    contributions = [None] * depth
    upstream = torch.ones_like(h)
    for k in reversed(range(depth)):
        local = upstream * (1 - outputs[k] * outputs[k])
        contrib = local * inputs[k]
        contributions[k] = contrib.sum() if w.ndim == 0 else contrib
        upstream = local * w
    total = torch.zeros_like(w)
    for c in contributions:
        total = total + c
    return contributions, total


@right
def class_f_07(w, x, depth):
    with torch.enable_grad():
        copies = [w.detach().clone().requires_grad_() for _ in range(depth)]
        h = x.detach().clone()
        for c in copies:
            h = torch.tanh(c * h)
        grads = torch.autograd.grad(h.sum(), copies)
    return list(grads), torch.stack(grads).sum(0)


# the list holds one and the same copy of w depth times, so each contribution is the total and the total is depth
# times too large
@wrong(mistakes.same_leaf_for_every_use)
def class_f_08(w, x, depth):
    weights = [w.detach().clone().requires_grad_(True)] * depth    # one copy for every use
    h = x.detach()
    for wi in weights:
        h = torch.tanh(wi * h)
    h.sum().backward()
    contributions = [wi.grad.clone() for wi in weights]
    total = sum(contributions)
    return contributions, total


@right
def class_f_19(w, x, depth):
    w, x = w.detach(), x.detach()
    loss = lambda ws: reduce(lambda h, v: torch.tanh(v * h), ws, x).sum()
    contributions = grad(loss)((w,) * depth)
    return contributions, sum(contributions)


# the results are kept in torch.zeros(depth), which raises for a w shaped like a larger x AND is float32 for float64
# inputs
@raised(effects.shapes_do_not_fit)
def class_f_22(w, x, depth):
    w = w.detach()
    h = x.detach()
    hs = [h]
    for i in range(depth):
        h = torch.tanh(w * h)
        hs.append(h)
    contributions = torch.zeros(depth)
    g = torch.ones_like(h)
    for i in range(depth - 1, -1, -1):
        g = g * (1 - hs[i + 1] ** 2)
        c = g * hs[i]
        if w.dim() == 0:
            c = c.sum()
        contributions[i] = c
        g = g * w
    return contributions, contributions.sum()


@right
def class_f_23(w, x, depth):
    with torch.no_grad():
        h = x.clone()
        tangents = []                 # tangents[k] = d h / d (use k of w), entry by entry
        for _ in range(depth):
            new = torch.tanh(w * h)
            slope = 1 - new * new
            for t in tangents:
                t.mul_(w).mul_(slope)
            tangents.append(slope * h)
            h = new
        if w.dim() == 0:
            tangents = [t.sum() for t in tangents]
        total = torch.zeros_like(w)
        for t in tangents:
            total += t
    return tangents, total


@right
@torch.no_grad()
def class_g_06(w, x, depth):
    # forward, keep everything
    states = [x]
    for _ in range(depth):
        states.append(torch.tanh(w * states[-1]))
    # backward
    delta = torch.ones_like(x)
    parts = [None] * depth
    total = torch.zeros_like(w)
    for k in range(depth - 1, -1, -1):
        delta = delta * (1 - states[k + 1] ** 2)
        part = delta * states[k]
        if w.dim() == 0:
            part = part.sum()
        parts[k] = part
        total = total + part
        delta = delta * w
    return parts, total


# written out for depth 1 and 2 only; for deeper chains all uses but the last two get zeros
@wrong(says='Right: `result[0][1]` and `result[0][2]`. Wrong: `result[0][0]` and `result[1]`.')
def class_g_07(w, x, depth):
    w, x = w.detach(), x.detach()
    red = (lambda t: t.sum()) if w.dim() == 0 else (lambda t: t)
    if depth == 1:
        h1 = torch.tanh(w * x)
        c1 = red((1 - h1**2) * x)
        return [c1], c1.clone()
    h0 = x
    for _ in range(depth - 2):
        h0 = torch.tanh(w * h0)
    h1 = torch.tanh(w * h0)
    h2 = torch.tanh(w * h1)
    c1 = red((1 - h2**2) * w * (1 - h1**2) * h0)
    c2 = red((1 - h2**2) * h1)
    zeros = [torch.zeros_like(c1) for _ in range(depth - 2)]
    return zeros + [c1, c2], c1 + c2


# retain_grad raises when w requires no gradients AND when it does, backward adds to w.grad, which is returned as
# the total with whatever was in it
@raised(effects.no_requires_grad)
def class_g_12(w, x, depth):
    steps = []
    h = x
    for _ in range(depth):
        wk = w.clone()
        wk.retain_grad()
        steps.append(wk)
        h = torch.tanh(wk * h)
    loss = h.sum()
    loss.backward()
    contributions = [s.grad for s in steps]
    total = w.grad
    return contributions, total


@right
def class_g_13(w, x, depth):
    x0 = x.detach()

    def loss(stack):
        h = x0
        for wk in stack.unbind(0):
            h = torch.tanh(wk * h)
        return h.sum()

    contributions = torch.func.grad(loss)(w.detach().expand(depth, *w.shape))
    return contributions, contributions.sum(dim=0)


# returned as (total, contributions), the wrong way round AND the stacked tensor is made in float32 whatever the
# inputs are
@wrong(mistakes.pair_swapped)
def class_g_15(w, x, depth):
    ws = [w.detach().clone().requires_grad_(True) for _ in range(depth)]
    h = x.detach()
    for wk in ws:
        h = torch.tanh(wk * h)
    h.sum().backward()
    contributions = torch.zeros(depth, *w.shape)
    for k in range(depth):
        contributions[k] = ws[k].grad
    total = contributions.sum(0)
    return total, contributions


# each use is moved by a small step and the loss measured: an approximation, far off in float32
@wrong(says='It fails on case 12 alone, where the inputs are float32.')
def class_g_20(w, x, depth, eps=1e-5):
    w, x = w.detach(), x.detach()

    def run(use, step):
        h = x
        for k in range(depth):
            h = torch.tanh((w + step if k == use else w) * h)
        return h.sum() if w.dim() == 0 else h    # entries do not mix

    contributions = [(run(k, eps) - run(k, -eps)) / (2 * eps) for k in range(depth)]
    return contributions, torch.stack(contributions).sum(0)


@right
def class_g_22(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    hs = torch.stack(hs)
    slope = 1 - hs[1:] ** 2                                   # (depth, *x.shape)
    after = torch.cat([w * slope[1:], torch.ones_like(slope[:1])])
    after = after.flip(0).cumprod(0).flip(0)                  # product over the later steps
    contributions = hs[:-1] * slope * after
    if w.dim() == 0:
        while contributions.dim() > 1:
            contributions = contributions.sum(-1)
    return contributions, contributions.sum(0)


# the list holds the running sums, not what each use adds AND it starts from the last use
@wrong(mistakes.running_totals)
def class_g_24(w, x, depth):
    with torch.no_grad():
        hs = [x]
        for _ in range(depth):
            hs.append(torch.tanh(w * hs[-1]))
        grad = torch.zeros_like(w)
        contributions = []
        g = torch.ones_like(x)
        for k in range(depth - 1, -1, -1):
            g = g * (1 - hs[k + 1] ** 2)
            step = g * hs[k]
            grad += step.sum() if w.dim() == 0 else step
            contributions.append(grad.clone())   # snapshot
            g = g * w
        return contributions, grad


# .item() makes Python floats instead of tensors and raises for a w with several entries
@raised(effects.item_of_many)
def class_g_25(w, x, depth):
    ws = []
    h = x.detach()
    for k in range(depth):
        wk = w.detach().clone()
        wk.requires_grad = True
        ws.append(wk)
        h = torch.tanh(wk * h)
    h.sum().backward()
    contributions = []
    total = 0.0
    for wk in ws:
        contributions.append(wk.grad.item())
        total += wk.grad.item()
    return contributions, total


# multiplies by the h after the use and not before it AND takes tanh again in 1 - tanh(h)**2, where h already is tanh
@wrong(mistakes.output_and_another_slope)
def class_g_16(w, x, depth):
    w = w.detach()
    h = x.detach()
    hs = []
    for _ in range(depth):
        h = torch.tanh(w * h)
        hs.append(h)
    g = torch.ones_like(h)
    contributions = []
    for h in reversed(hs):
        g = g * (1 - torch.tanh(h) ** 2)
        c = g * h
        contributions.append(c.sum() if w.dim() == 0 else c)
        g = g * w
    contributions = contributions[::-1]
    total = sum(contributions)
    return contributions, total


@right
def class_h_07(w, x, depth):
    # one row of W for each use, so autograd keeps the uses apart
    W = w.detach().expand(depth, *w.shape).clone().requires_grad_()
    h = x.detach()
    for row in W:
        h = (row * h).tanh()
    (G,) = torch.autograd.grad(h.sum(), W)
    return G, G.sum(0)


# each contribution is the difference of the gradients of the nets with k and k - 1 uses, which is not what one use
# adds (only the total is right)
@wrong(mistakes.growth_for_contributions)
def class_h_09(w, x, depth):
    totals = []
    for d in range(1, depth + 1):
        v = w.detach().clone().requires_grad_(True)
        h = x.detach()
        for _ in range(d):
            h = torch.tanh(v * h)
        h.sum().backward()
        totals.append(v.grad)
    contributions = [totals[0]]
    for a, b in zip(totals, totals[1:]):
        contributions.append(b - a)
    return contributions, totals[-1]


@right
@torch.no_grad()
def class_h_13(w, x, depth):
    def fit(t):
        return t.sum() if w.dim() == 0 else t

    def go(h, n):
        # returns (contributions of the last n uses, d loss / d h)
        if n == 0:
            return [], torch.ones_like(h)
        out = torch.tanh(w * h)
        later, up = go(out, n - 1)
        dz = up * (1 - out * out)
        return [fit(dz * h)] + later, dz * w

    parts, _ = go(x, depth)
    total = torch.zeros_like(w)
    for p in parts:
        total = total + p
    return parts, total


# the tuple is swapped: the total comes first AND the total is a Python float of everything
@wrong(effects.wrong_type)
def class_h_18(w, x, depth):
    ws = [torch.nn.Parameter(w.detach().clone()) for _ in range(depth)]
    h = x.detach()
    for p in ws:
        h = torch.tanh(p * h)
    h.sum().backward()
    contributions = [p.grad for p in ws]
    total = sum(c.sum().item() for c in contributions)
    return total, contributions


# the results are written into a float32 vector of length depth: it raises for a w shaped like an x of more than one
# entry AND float64 results lose their dtype
@raised(effects.shapes_do_not_fit)
def class_h_19(w, x, depth):
    contributions = torch.zeros(depth)
    for k in range(depth):
        wk = w.detach().clone().requires_grad_(True)
        h = x.detach()
        for i in range(depth):
            h = torch.tanh((wk if i == k else w.detach()) * h)
        contributions[k] = torch.autograd.grad(h.sum(), wk)[0]
    return contributions, contributions.sum()


@right
def class_h_20(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    ins = torch.stack(hs[:-1])
    slopes = 1 - torch.stack(hs[1:]) ** 2          # tanh' at each use
    through = torch.ones_like(ins)                 # d h_depth / d h_(k+1)
    for k in range(depth):
        for j in range(k + 1, depth):
            through[k] = through[k] * w * slopes[j]
    c = through * slopes * ins
    if w.dim() == 0:
        c = c.reshape(depth, -1).sum(1)
    return c, c.sum(0)


# .grad is not cleared between the uses' backward calls, so the contributions are running sums and the returned
# total is the sum of running sums
@wrong(mistakes.running_totals)
def class_h_23(w, x, depth):
    weight = w.detach().clone().requires_grad_(True)
    contributions = []
    for k in range(depth):
        h = x.detach()
        for i in range(depth):
            if i == k:
                h = torch.tanh(weight * h)
            else:
                h = torch.tanh(weight.detach() * h)
        h.sum().backward()
        contributions.append(weight.grad.clone())
    return contributions, sum(contributions)


# each use's weight is moved by 1e-4 and the change of the loss is divided by it: a one-sided approximation, far
# below the precision of the dtype
@wrong(says='digits in float32, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_h_24(w, x, depth):
    eps = 1e-4
    w, x = w.detach(), x.detach()

    def run(ws):
        h = x
        for v in ws:
            h = torch.tanh(v * h)
        return h.sum()

    base = run([w] * depth)
    contributions = []
    for k in range(depth):
        c = torch.zeros(w.numel(), dtype=w.dtype, device=w.device)
        for i in range(w.numel()):
            moved = w.reshape(-1).clone()
            moved[i] += eps
            ws = [w] * depth
            ws[k] = moved.reshape(w.shape)
            c[i] = (run(ws) - base) / eps
        contributions.append(c.reshape(w.shape))
    return contributions, sum(contributions)


@right
def class_h_25(w, x, depth):
    seen = []

    class Spy(torch.autograd.Function):
        """identity that writes down what flows back to w"""
        @staticmethod
        def forward(ctx, t):
            return t.clone()

        @staticmethod
        def backward(ctx, g):
            seen.append(g.detach().clone())
            return g

    v = w.detach().clone().requires_grad_(True)
    with torch.enable_grad():
        h = x.detach()
        for _ in range(depth):
            h = torch.tanh(Spy.apply(v) * h)
        total = torch.autograd.grad(h.sum(), v)[0]
    seen.reverse()
    return seen, total.detach().clone()


# the derivative of the sigmoid, h * (1 - h), is used for tanh AND the loss is taken as a mean, so the gradient
# starts with 1 / n
@wrong(says='The numbers are those of a known mistake, times 1/[the number of entries of x]. The slope of the sigmoid for tanh (sigmoid-slope)')
def class_h_21(w, x, depth):
    w = w.detach()
    hs = [x.detach()]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    grad = torch.ones_like(hs[-1]) / hs[-1].numel()
    contributions = []
    for t in range(depth, 0, -1):
        grad = grad * hs[t] * (1 - hs[t])
        c = grad * hs[t - 1]
        contributions = [c.sum() if w.dim() == 0 else c] + contributions
        grad = grad * w
    return contributions, sum(contributions)


@wrong(mistakes.slope_without_square)
def slope_one_minus_h(w, x, depth):
    w, hs = w.detach(), [x.detach()]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    signal, found = torch.ones_like(hs[-1]), []
    for before, h in zip(hs[-2::-1], hs[:0:-1]):
        signal = signal * (1 - h)
        share = signal * before
        found.insert(0, share.sum() if w.dim() == 0 else share)
        signal = signal * w
    return found, torch.stack(found).sum(0)


@wrong(mistakes.slope_with_plus)
def slope_one_plus_square(w, x, depth):
    w, hs = w.detach(), [x.detach()]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    signal, found = torch.ones_like(hs[-1]), []
    for before, h in zip(hs[-2::-1], hs[:0:-1]):
        signal = signal * (1 + h * h)
        share = signal * before
        found.insert(0, share.sum() if w.dim() == 0 else share)
        signal = signal * w
    return found, torch.stack(found).sum(0)


@wrong(mistakes.sigmoid_slope)
def slope_of_a_sigmoid(w, x, depth):
    w, hs = w.detach(), [x.detach()]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    signal, found = torch.ones_like(hs[-1]), []
    for before, h in zip(hs[-2::-1], hs[:0:-1]):
        signal = signal * (h * (1 - h))
        share = signal * before
        found.insert(0, share.sum() if w.dim() == 0 else share)
        signal = signal * w
    return found, torch.stack(found).sum(0)


@right
def class_i_08(w, x, depth):
    """Untie the weight: one row per use, then differentiate w.r.t. the whole stack."""
    x = x.detach()
    untied = torch.stack([w.detach()] * depth)

    def loss(ws):
        h = x
        for wk in ws.unbind(0):
            h = torch.tanh(wk * h)
        return h.sum()

    contributions = grad(loss)(untied)
    return contributions, contributions.sum(0)


# backward runs on the caller's w itself, so w.grad is filled (added to) and requires_grad stays switched on
@wrong(effects.changed_requires_grad)
def class_i_10(w, x, depth):
    w.requires_grad_(True)
    uses = []
    h = x.detach()
    for _ in range(depth):
        u = w * 1.0            # a fresh node for each use
        u.retain_grad()
        uses.append(u)
        h = torch.tanh(u * h)
    h.sum().backward()
    contributions = [u.grad.clone() for u in uses]
    return contributions, torch.stack(contributions).sum(0)


# a contribution multiplies by the h after the step instead of the h before it AND the contributions come last use
# first
@wrong(says="The numbers are those of a known mistake, in reverse order. A round's output in place of its input (output-for-input)")
def class_i_13(w, x, depth):
    w = w.detach()
    h = x.detach()
    hidden = []
    for _ in range(depth):
        h = torch.tanh(w * h)
        hidden.append(h)

    grad_out = torch.ones_like(h)
    contributions = []
    while hidden:
        h = hidden.pop()
        grad_z = grad_out * (1 - h ** 2)
        grad_w = grad_z * h
        contributions.append(grad_w.sum() if w.dim() == 0 else grad_w)
        grad_out = grad_z * w
    return contributions, torch.stack(contributions).sum(0)


@right
def class_i_15(w, x, depth):
    w, x = w.detach(), x.detach()

    def walk(h, left):
        """returns (contributions of the uses still to come, dloss/dh)"""
        if left == 0:
            return [], torch.ones_like(h)
        out = torch.tanh(w * h)
        later, g = walk(out, left - 1)
        g = g * (1 - out * out)
        mine = (g * h).sum_to_size(w.shape)
        return [mine] + later, g * w

    contributions, _ = walk(x, depth)
    total = torch.zeros_like(w)
    for c in contributions:
        total = total + c
    return contributions, total


# h is x itself and is updated in place, so x is overwritten (and a leaf x that requires gradients raises)
@wrong(effects.changed_input)
def class_i_17(w, x, depth):
    w = w.detach()
    h = x
    before, after = [], []
    for _ in range(depth):
        before.append(h.detach().clone())
        h *= w
        h.tanh_()
        after.append(h.detach().clone())
    g = torch.ones_like(before[0])
    contributions = []
    for b, a in zip(reversed(before), reversed(after)):
        g = g * (1 - a * a)
        contributions.insert(0, (g * b).sum() if w.dim() == 0 else g * b)
        g = g * w
    total = sum(contributions)
    return contributions, total


# the results go through Python lists into torch.tensor, so float64 inputs give float32 contributions and total
@wrong(effects.wrong_dtype)
def class_i_19(w, x, depth):
    ws = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for k in range(depth):
        h = torch.tanh(ws[k] * h)
    h.sum().backward()
    grads = [wk.grad.tolist() for wk in ws]
    contributions = torch.tensor(grads, device=w.device)
    total = contributions.sum(dim=0)
    return contributions, total


# the formulas are written out for depth 1 and 2 only, deeper chains raise NotImplementedError
@raised(effects.gives_up)
def class_i_20(w, x, depth):
    w = w.detach()
    x = x.detach()
    fit = lambda t: t.sum() if w.dim() == 0 else t
    h1 = torch.tanh(w * x)
    if depth == 1:
        c1 = fit((1 - h1 ** 2) * x)
        return [c1], c1.clone()
    if depth == 2:
        h2 = torch.tanh(w * h1)
        c2 = fit((1 - h2 ** 2) * h1)
        c1 = fit((1 - h2 ** 2) * w * (1 - h1 ** 2) * x)
        return [c1, c2], c1 + c2
    raise NotImplementedError("depth > 2")


# the contributions are running sums instead of single ones AND the pair is returned the wrong way round, total
# first
@wrong(effects.wrong_shape)
def class_i_23(w, x, depth):
    param = w.detach().clone()
    param.requires_grad = True

    # one forward pass per use: only use number k sees the parameter
    history = []
    for k in range(depth):
        h = x.detach()
        for i in range(depth):
            weight = param if i == k else param.detach()
            h = torch.tanh(weight * h)
        h.sum().backward()
        history.append(param.grad.clone())
    total = param.grad
    return total, history


# the loss is the mean of h instead of its sum AND backward runs into x itself, so an x that requires gradients gets
# its .grad changed
@wrong(mistakes.mean_for_sum)
def class_i_24(w, x, depth):
    weights = []
    h = x
    for i in range(depth):
        wi = w.detach().clone().requires_grad_()
        weights.append(wi)
        h = torch.tanh(wi * h)
    loss = h.mean()
    loss.backward()
    contributions = [wi.grad for wi in weights]
    total = torch.zeros_like(weights[0].grad)
    for c in contributions:
        total += c
    return contributions, total


@right
def class_i_25(w, x, depth):
    wn = w.detach().cpu().numpy()
    h = [x.detach().cpu().numpy()]
    for _ in range(depth):
        h.append(np.tanh(wn * h[-1]))

    out = np.empty((depth,) + wn.shape, dtype=wn.dtype)
    g = np.ones_like(h[-1])
    for k in range(depth - 1, -1, -1):
        g = g * (1 - h[k + 1] ** 2)
        out[k] = (g * h[k]).sum() if wn.ndim == 0 else g * h[k]
        g = g * wn

    contributions = torch.from_numpy(out).to(w.device)
    return contributions, contributions.sum(dim=0)


# forgets the later rounds, and that a 0-d w serves many entries
@wrong(mistakes.local_derivative_alone)
def local_and_unreduced(w, x, depth):
    h, found = x.detach(), []
    for _ in range(depth):
        out = torch.tanh(w.detach() * h)
        found.append((1 - out**2) * h)
        h = out
    return found, sum(found)


@wrong(mistakes.weight_left_out_of_chain)
def without_w_and_unreduced(w, x, depth):
    w, hidden = w.detach(), [x.detach()]
    for _ in range(depth):
        hidden.append(torch.tanh(w * hidden[-1]))
    signal, found = torch.ones_like(x), []
    for k in range(depth, 0, -1):
        signal = signal * (1 - hidden[k] ** 2)
        found.insert(0, signal * hidden[k - 1])
    return found, sum(found)


@wrong(mistakes.output_for_input)
def output_and_unreduced(w, x, depth):
    w, hidden = w.detach(), [x.detach()]
    for _ in range(depth):
        hidden.append(torch.tanh(w * hidden[-1]))
    signal, found = torch.ones_like(x), []
    for k in range(depth, 0, -1):
        signal = signal * (1 - hidden[k] ** 2)
        found.append(signal * hidden[k])
        signal = signal * w
    return found[::-1], sum(found)


# the list is read as w times h, and tanh only passed on the way to the round before
@wrong(mistakes.own_slope_missing)
def slope_after_the_share(w, x, depth):
    w, hidden = w.detach(), [x.detach()]
    for _ in range(depth):
        hidden.append(torch.tanh(w * hidden[-1]))
    signal, found = torch.ones_like(x), []
    for k in range(depth, 0, -1):
        found.append(signal * hidden[k - 1])
        signal = signal * w * (1 - hidden[k] ** 2)
    return found[::-1], sum(found)


@wrong(mistakes.own_slope_missing)
def slope_after_the_share_summed(w, x, depth):
    w, hidden = w.detach(), [x.detach()]
    for _ in range(depth):
        hidden.append(torch.tanh(w * hidden[-1]))
    signal, found = torch.ones_like(x), []
    for k in range(depth, 0, -1):
        one = signal * hidden[k - 1]
        found.insert(0, one.sum() if w.ndim == 0 else one)
        signal = signal * w * (1 - hidden[k] ** 2)
    return torch.stack(found), torch.stack(found).sum(0)


# one loop forward: the product that is carried along holds the rounds before, not those after
@wrong(mistakes.factors_of_earlier_rounds)
def one_loop_forward(w, x, depth):
    w, h, carried, found = w.detach(), x.detach(), torch.ones_like(x), []
    for _ in range(depth):
        out = torch.tanh(w * h)
        carried = carried * (1 - out**2)
        one = carried * h
        found.append(one.sum() if w.ndim == 0 else one)
        carried, h = carried * w, out
    return found, sum(found)


@wrong(mistakes.factors_of_earlier_rounds)
def one_loop_forward_unreduced(w, x, depth):
    w, h, carried, found = w.detach(), x.detach(), torch.ones_like(x), []
    for _ in range(depth):
        out = torch.tanh(w * h)
        found.append(carried * (1 - out**2) * h)
        carried, h = carried * (1 - out**2) * w, out
    return found, sum(found)


# nudges a use as the lesson does, all of its entries at once
@wrong(mistakes.contributions_over_the_entries)
def nudged_whole(w, x, depth):
    def last(uses):
        h = x.detach().double()
        for use in uses:
            h = torch.tanh(use * h)
        return h.sum()

    found, step = [], 1e-5
    for k in range(depth):
        up, down = ([w.detach().double() + (s if i == k else 0) for i in range(depth)] for s in (step, -step))
        found.append(((last(up) - last(down)) / (2 * step)).to(w.dtype))
    return found, sum(found)


@wrong(mistakes.contributions_over_the_entries)
def sums_of_shares(w, x, depth):
    uses = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for use in uses:
        h = torch.tanh(use * h)
    found = torch.autograd.grad(h.sum(), uses)
    return [one.sum() for one in found], sum(found)
