"""Attempts at exercise 1.5, two_layer_backward: what learners write, and what the check must say of it."""

from functools import reduce
from torch.func import grad
from torch import einsum as einsum_of_torch
from torch import tanh
from torch.func import jvp
from torch.func import vmap
import math
import numpy as np
import torch
import torch.nn as nn

from course_utils.authoring.attempts import raised, right, wrong
from course_utils.checks import effects
from course_utils.lessons.lesson1.two_layer_backward import mistakes


@raised(effects.item_of_many)
def tanh_of_math(W1, b1, W2, b2, x, y):
    h = math.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    return {"W2": h.T @ d2, "b2": d2.sum(0)}


# Multiplies at the wrong station: (n, k) times (n, h).
@raised(mistakes.slope_at_the_output)
def slope_of_the_output(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 * (1 - h**2)) @ W2.T
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@raised(mistakes.w2_not_transposed)
def w2_not_transposed(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@right
def bias_as_a_column_of_ones(W1, b1, W2, b2, x, y):
    ones = x.new_ones(len(x), 1)
    x1 = torch.cat([x, ones], dim=1)
    h1 = torch.cat([torch.tanh(x1 @ torch.cat([W1, b1[None]])), ones], dim=1)
    delta2 = (h1 @ torch.vstack([W2, b2]) - y).mul(2).div(y.numel())
    g2 = h1.T @ delta2
    delta1 = delta2 @ W2.T * (1 - h1[:, :-1] ** 2)
    g1 = x1.T @ delta1
    return {"W1": g1[:-1], "b1": g1[-1], "W2": g2[:-1], "b2": g2[-1]}


@right
def einsum(W1, b1, W2, b2, x, y):
    pre = torch.einsum("nd,dh->nh", x, W1) + b1
    hidden = pre.tanh()
    signal = (torch.einsum("nh,hk->nk", hidden, W2) + b2 - y) * (2 / (y.shape[0] * y.shape[1]))
    back = torch.einsum("nk,hk,nh->nh", signal, W2, 1 - hidden.square())
    return dict(
        W1=torch.einsum("nd,nh->dh", x, back),
        b1=torch.einsum("nh->h", back),
        W2=torch.einsum("nh,nk->hk", hidden, signal),
        b2=torch.einsum("nk->k", signal),
    )


@right
def matrix_form(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    output = hidden @ W2 + b2
    d_output = 2 * (output - y) / y.numel()
    d_pre = (d_output @ W2.T) * (1 - hidden**2)
    return {"W1": x.T @ d_pre, "b1": d_pre.sum(0), "W2": hidden.T @ d_output, "b2": d_output.sum(0)}


@right
def numpy(W1, b1, W2, b2, x, y):
    nW1, nb1, nW2, nb2, nx, ny = (t.numpy() for t in (W1, b1, W2, b2, x, y))
    a = np.tanh(nx @ nW1 + nb1)
    d2 = 2 * (a @ nW2 + nb2 - ny) / ny.size
    d1 = (d2 @ nW2.T) * (1 - a**2)
    grads = {"W1": nx.T @ d1, "b1": d1.sum(axis=0), "W2": a.T @ d2, "b2": d2.sum(axis=0)}
    return {name: torch.from_numpy(np.ascontiguousarray(g)) for name, g in grads.items()}


# A scalar tape in the manner of micrograd, over Python floats.
class Value:
    def __init__(self, data, parents=()):
        self.data, self.parents, self.grad = data, parents, 0.0

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1 - t * t),))

def backward(root):
    order, seen = [], set()

    def visit(node):
        if id(node) not in seen:
            seen.add(id(node))
            for parent, _ in node.parents:
                visit(parent)
            order.append(node)

    visit(root)
    root.grad = 1.0
    for node in reversed(order):
        for parent, slope in node.parents:
            parent.grad += slope * node.grad

@right
def reverse_tape_of_scalars(W1, b1, W2, b2, x, y):
    def lift(t):
        return [lift(row) for row in t] if t.dim() else Value(t.item())

    def collect(values, like):
        def grads(v):
            return [grads(item) for item in v] if isinstance(v, list) else v.grad

        return torch.tensor(grads(values), dtype=like.dtype, device=like.device)

    vW1, vb1, vW2, vb2 = map(lift, (W1, b1, W2, b2))
    share = Value(1 / y.numel())
    loss = Value(0.0)
    for row, target in zip(x.tolist(), y.tolist()):
        hidden = []
        for j in range(len(vb1)):
            total = vb1[j]
            for p, entry in enumerate(row):
                total = total + vW1[p][j] * Value(entry)
            hidden.append(total.tanh())
        for c, wanted in enumerate(target):
            r = vb2[c] + Value(-wanted)
            for j, a in enumerate(hidden):
                r = r + a * vW2[j][c]
            loss = loss + r * r * share
    backward(loss)
    return {"W1": collect(vW1, W1), "b1": collect(vb1, b1), "W2": collect(vW2, W2), "b2": collect(vb2, b2)}


@right
def row_by_row(W1, b1, W2, b2, x, y):
    grads = {name: torch.zeros_like(p) for name, p in [("W1", W1), ("b1", b1), ("W2", W2), ("b2", b2)]}
    for row, target in zip(x, y):
        hidden = torch.tanh(row @ W1 + b1)
        signal = 2 * (hidden @ W2 + b2 - target)
        back = (W2 @ signal) * (1 - hidden * hidden)
        grads["W2"] += torch.outer(hidden, signal)
        grads["b2"] += signal
        grads["W1"] += torch.outer(row, back)
        grads["b1"] += back
    return {name: g / y.numel() for name, g in grads.items()}


# Every entry by its own sum, in Python.
@right
def scalar_loops(W1, b1, W2, b2, x, y):
    n, d = x.shape
    h, k = W2.shape
    gW1, gb1, gW2, gb2 = (torch.zeros_like(t) for t in (W1, b1, W2, b2))
    for i in range(n):
        a = [torch.tanh(sum(x[i, p] * W1[p, j] for p in range(d)) + b1[j]) for j in range(h)]
        for c in range(k):
            r = sum(a[j] * W2[j, c] for j in range(h)) + b2[c] - y[i, c]
            s = 2 * r / (n * k)
            gb2[c] += s
            for j in range(h):
                gW2[j, c] += s * a[j]
                t = s * W2[j, c] * (1 - a[j] ** 2)
                gb1[j] += t
                for p in range(d):
                    gW1[p, j] += t * x[i, p]
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


# The slope of tanh as 1 / cosh squared, the mean as a mean, the weights by batched outer products.
@right
def slope_from_cosh(W1, b1, W2, b2, x, y):
    z = torch.addmm(b1, x, W1)
    a = torch.tanh(z)
    e = 2 * (torch.addmm(b2, a, W2) - y)
    dz = torch.mm(e, W2.t()) / torch.cosh(z) ** 2
    k = y.size(1)
    return {
        "b2": e.mean(0) / k,
        "W2": (a[:, :, None] * e[:, None, :]).mean(0) / k,
        "b1": dz.mean(0) / k,
        "W1": (x.unsqueeze(2) * dz.unsqueeze(1)).mean(0) / k,
    }


# A tiny library of layers, each with its own backward.
class Affine:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias

    def forward(self, x):
        self.x = x
        return x @ self.weight + self.bias

    def backward(self, g):
        self.weight_grad, self.bias_grad = self.x.mT @ g, g.sum(dim=0)
        return g @ self.weight.mT

class Tanh:
    def forward(self, x):
        self.out = torch.tanh(x)
        return self.out

    def backward(self, g):
        return g * (1 - self.out.pow(2))

class MeanSquare:
    def forward(self, x, y):
        self.r = x - y
        return self.r.pow(2).mean()

    def backward(self):
        return self.r * (2 / self.r.numel())

@right
def small_layers_with_backward(W1, b1, W2, b2, x, y):
    first, squash, second, loss = Affine(W1, b1), Tanh(), Affine(W2, b2), MeanSquare()
    loss.forward(second.forward(squash.forward(first.forward(x))), y)
    first.backward(squash.backward(second.backward(loss.backward())))
    return {"W1": first.weight_grad, "b1": first.bias_grad, "W2": second.weight_grad, "b2": second.bias_grad}


# Half right: W1 gets the slope of tanh, b1 does not.
@wrong(mistakes.activation_derivative_missing_in_b1)
def in_the_bias_only(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    into_h = d2 @ W2.T
    return {"W1": x.T @ (into_h * (1 - h**2)), "b1": into_h.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.activation_derivative_missing)
def straight_through(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = d2 @ W2.T
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


# Differentiates x @ W1 @ W2: tanh is nowhere, not even on the way forward.
@wrong(mistakes.activation_left_out)
def two_linear_layers(W1, b1, W2, b2, x, y):
    h = x @ W1 + b1
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = d2 @ W2.T
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.averaged_over_rows_only)
def len_of_y(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / len(y)
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.averaged_twice)
def divided_in_loss_and_gradients(W1, b1, W2, b2, x, y):
    n = len(x)
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1 / n, "b1": d1.sum(0) / n, "W2": h.T @ d2 / n, "b2": d2.sum(0) / n}


@wrong(mistakes.bias_averaged)
def mean_over_the_rows(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.mean(0), "W2": h.T @ d2, "b2": d2.mean(0)}


@wrong(mistakes.bias1_averaged)
def only_the_first(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    r = 2 * (h @ W2 + b2 - y) / y.numel()
    back = (r @ W2.T) * (1 - h * h)
    return {"W1": x.T @ back, "b1": back.mean(dim=0), "W2": h.T @ r, "b2": r.sum(dim=0)}


@wrong(effects.changed_input)
def residual_into_y(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    y.sub_(h @ W2 + b2).mul_(-2 / y.numel())
    d1 = (y @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ y, "b2": y.sum(0)}


# Right gradients, and the weights were moved by them.
@wrong(effects.changed_input)
def took_a_step(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    grads = {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}
    for p, g in zip((W1, b1, W2, b2), grads.values()):
        p -= 0.1 * g
    return grads


@wrong(effects.extra_entries)
def gradient_of_x_too(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0), "x": d1 @ W1.T}


@wrong(mistakes.gradient_sign_flipped)
def target_minus_output(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (y - (h @ W2 + b2)) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.hidden_before_activation)
def z_for_h(W1, b1, W2, b2, x, y):
    z = x @ W1 + b1
    h = torch.tanh(z)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": z.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.loss_not_averaged)
def as_sum(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y)
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@wrong(effects.missing_entries)
def lower_case_names(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"w1": x.T @ d1, "b1": d1.sum(0), "w2": h.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.missing_factor_two)
def half_loss(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


# Half right: the second layer is derived, the first one is zeros.
@wrong(says='Nothing but zeros stands at `W1` and `b1`; the others are right.')
def first_layer_guessed(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    return {"W1": torch.zeros_like(W1), "b1": torch.zeros_like(b1), "W2": h.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.prediction_for_residual)
def output_alone(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.rows_not_summed)
def bias_keeps_the_batch(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1, "W2": h.T @ d2, "b2": d2}


@wrong(mistakes.sigmoid_slope)
def from_an_older_course(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * h * (1 - h)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.slope_from_input)
def square_of_z(W1, b1, W2, b2, x, y):
    z = x @ W1 + b1
    h = torch.tanh(z)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - z**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


# The slope of tanh as 1 - h: the square was lost on the way from paper.
@wrong(mistakes.slope_without_square)
def one_minus_h(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


def tanh_derivative(z):
    return 1 - torch.tanh(z) ** 2

@wrong(mistakes.tanh_taken_twice)
def derivative_of_the_hidden_value(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * tanh_derivative(h)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.transposed_gradients)
def as_nn_linear_stores_them(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": d1.T @ x, "b1": d1.sum(0), "W2": d2.T @ h, "b2": d2.sum(0)}


@wrong(mistakes.used_autograd)
def backward_2(W1, b1, W2, b2, x, y):
    leaves = {n: t.clone().requires_grad_() for n, t in dict(W1=W1, b1=b1, W2=W2, b2=b2).items()}
    out = torch.tanh(x @ leaves["W1"] + leaves["b1"]) @ leaves["W2"] + leaves["b2"]
    ((out - y) ** 2).mean().backward()
    return {n: t.grad for n, t in leaves.items()}


@wrong(mistakes.used_autograd)
def func_grad_of_four_arguments(W1, b1, W2, b2, x, y):
    def loss(W1, b1, W2, b2):
        return ((torch.tanh(x @ W1 + b1) @ W2 + b2 - y) ** 2).mean()

    return dict(zip(["W1", "b1", "W2", "b2"], torch.func.grad(loss, argnums=(0, 1, 2, 3))(W1, b1, W2, b2)))


# By hand but for one link: the slope of tanh is asked of autograd.
@wrong(mistakes.used_autograd)
def only_through_tanh(W1, b1, W2, b2, x, y):
    z = (x @ W1 + b1).requires_grad_()
    h = torch.tanh(z)
    (slope,) = torch.autograd.grad(h.sum(), z)
    h = h.detach()
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * slope
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@wrong(mistakes.bias_kept_as_a_row)
def bias_with_a_row(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return {"W1": x.T @ d1, "b1": d1.sum(0, keepdim=True), "W2": h.T @ d2, "b2": d2.sum(0, keepdim=True)}


@wrong(effects.wrong_type)
def as_tuple(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - h**2)
    return x.T @ d1, d1.sum(0), h.T @ d2, d2.sum(0)


# the mean is divided by the number of rows n alone, not by all n * k entries
@wrong(mistakes.averaged_over_rows_only)
@torch.no_grad()
def class_a_01(W1, b1, W2, b2, x, y):
    # forward
    h = torch.tanh(x @ W1 + b1)
    pred = h @ W2 + b2
    # backward
    n = x.shape[0]
    d_pred = 2 * (pred - y) / n
    dW2 = h.T @ d_pred
    db2 = d_pred.sum(dim=0)
    dh = d_pred @ W2.T
    dz = dh * (1 - h ** 2)
    dW1 = x.T @ dz
    db1 = dz.sum(dim=0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


@right
def class_a_02(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        # forward pass, keep the things I need later
        z = x @ W1 + b1
        a = torch.tanh(z)
        out = a @ W2 + b2
        # backward pass, from the last line to the first
        grad_out = 2 * (out - y) / y.numel()
        grad_W2 = a.t() @ grad_out
        grad_b2 = grad_out.sum(0)
        grad_a = grad_out @ W2.t()
        grad_z = grad_a * (1 - a * a)      # tanh' = 1 - tanh^2
        grad_W1 = x.t() @ grad_z
        grad_b1 = grad_z.sum(0)
    return {'W1': grad_W1, 'b1': grad_b1, 'W2': grad_W2, 'b2': grad_b2}


# the derivative of tanh is missing: the gradient passes through the hidden layer unchanged
@wrong(mistakes.activation_derivative_missing)
@torch.no_grad()
def class_a_03(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    out = hidden @ W2 + b2
    err = 2 * (out - y) / out.numel()
    grads = {}
    grads["W2"] = hidden.T @ err
    grads["b2"] = err.sum(0)
    back = err @ W2.T          # error of the hidden layer
    grads["W1"] = x.T @ back
    grads["b1"] = back.sum(0)
    return grads


# tanh is applied a second time in its derivative: 1 - tanh(h)**2 where h is already tanh(z)
@wrong(mistakes.tanh_taken_twice)
@torch.no_grad()
def class_a_04(W1, b1, W2, b2, x, y):
    def tanh_derivative(t):
        return 1 - torch.tanh(t) ** 2

    h = torch.tanh(x @ W1 + b1)
    p = h @ W2 + b2
    dp = 2.0 * (p - y) / (y.shape[0] * y.shape[1])
    dh = (dp @ W2.T) * tanh_derivative(h)
    return {
        "W1": x.T @ dh,
        "b1": dh.sum(0),
        "W2": h.T @ dp,
        "b2": dp.sum(0),
    }


# the dict holds NumPy arrays instead of tensors
@wrong(effects.wrong_type)
def class_a_05(W1, b1, W2, b2, x, y):
    W1, b1, W2, b2, x, y = [t.detach().cpu().numpy() for t in (W1, b1, W2, b2, x, y)]
    a1 = np.tanh(np.dot(x, W1) + b1)
    a2 = np.dot(a1, W2) + b2
    d2 = 2 * (a2 - y) / a2.size
    d1 = np.dot(d2, W2.T) * (1 - np.square(a1))
    return {"W1": np.dot(x.T, d1), "b1": np.sum(d1, axis=0),
            "W2": np.dot(a1.T, d2), "b2": np.sum(d2, axis=0)}


@right
def class_a_06(*args):
    W1, b1, W2, b2, x, y = (t.detach() for t in args)
    h = (x @ W1 + b1).tanh()
    e = (h @ W2 + b2 - y) * (2 / y.numel())
    g = torch.einsum('nk,hk,nh->nh', e, W2, 1 - h ** 2)
    return dict(W1=torch.einsum('nd,nh->dh', x, g), b1=torch.einsum('nh->h', g),
                W2=torch.einsum('nh,nk->hk', h, e), b2=torch.einsum('nk->k', e))


# the bias gradients are not summed over the batch: they come back with one row a sample
@wrong(mistakes.rows_not_summed)
@torch.no_grad()
def class_a_07(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    pred = h @ W2 + b2
    dL_dpred = 2 * (pred - y) / pred.numel()
    dL_dW2 = h.T @ dL_dpred
    dL_db2 = dL_dpred            # derivative of +b2 is 1
    dL_dz = (dL_dpred @ W2.T) * (1 - h ** 2)
    dL_dW1 = x.T @ dL_dz
    dL_db1 = dL_dz               # derivative of +b1 is 1
    return {"W1": dL_dW1, "b1": dL_db1, "W2": dL_dW2, "b2": dL_db2}


# the factor 2 of the square is missing AND the bias gradients keep the batch dimension, (1, h) and (1, k)
@wrong(says='The numbers are those of a known mistake, in another shape on cases 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10. Half of the gradient: the 2 of the square does not show (missing-factor-two). To mend that: Differentiate the square once more, on paper.')
@torch.no_grad()
def class_a_08(W1, b1, W2, b2, x, y):
    layer1 = torch.tanh(torch.matmul(x, W1) + b1)
    layer2 = torch.matmul(layer1, W2) + b2
    delta2 = (layer2 - y) / y.numel()
    delta1 = torch.matmul(delta2, W2.T) * (1 - layer1.pow(2))
    return {
        'W1': torch.matmul(x.T, delta1),
        'b1': torch.sum(delta1, dim=0, keepdim=True),
        'W2': torch.matmul(layer1.T, delta2),
        'b2': torch.sum(delta2, dim=0, keepdim=True),
    }


# no detach and no no_grad: where an input requires gradients the returned tensors carry a graph
@right
def class_a_09(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    d1 = d2 @ W2.T * (1 - h * h)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


@right
def class_a_10(W1, b1, W2, b2, x, y):
    names = ["W1", "b1", "W2", "b2"]
    total = {name: torch.zeros_like(t, requires_grad=False) for name, t in zip(names, [W1, b1, W2, b2])}
    n, k = y.shape
    with torch.no_grad():
        for i in range(n):
            xi, yi = x[i], y[i]
            a = torch.tanh(xi @ W1 + b1)
            r = a @ W2 + b2 - yi
            g2 = 2 * r / (n * k)
            g1 = (W2 @ g2) * (1 - a ** 2)
            total["W2"] += torch.outer(a, g2)
            total["b2"] += g2
            total["W1"] += torch.outer(xi, g1)
            total["b1"] += g1
    return total


# breaks the rule: copies of the weights require gradients and loss.backward() does the work
@wrong(mistakes.used_autograd)
def class_a_11(W1, b1, W2, b2, x, y):
    p = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}
    p = {k: v.detach().clone().requires_grad_(True) for k, v in p.items()}
    x, y = x.detach(), y.detach()
    with torch.enable_grad():
        loss = ((torch.tanh(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"] - y) ** 2).mean()
        loss.backward()
    return {k: v.grad for k, v in p.items()}


# the residual has the wrong sign (y - prediction), so every gradient is negated
@wrong(mistakes.gradient_sign_flipped)
@torch.no_grad()
def class_a_12(W1, b1, W2, b2, x, y):
    # forward propagation
    z1 = x @ W1 + b1
    a1 = torch.tanh(z1)
    z2 = a1 @ W2 + b2
    # back propagation
    error = y - z2
    dz2 = 2 * error / error.numel()
    dz1 = (dz2 @ W2.T) * (1 - torch.tanh(z1) ** 2)
    return {"W1": x.T @ dz1, "b1": dz1.sum(axis=0), "W2": a1.T @ dz2, "b2": dz2.sum(axis=0)}


# the weight gradients are transposed: (h, d) and (k, h) instead of (d, h) and (h, k)
@wrong(mistakes.transposed_gradients)
@torch.no_grad()
def class_a_13(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    out = h @ W2 + b2
    g_out = 2 * (out - y) / out.numel()
    g_h = (g_out @ W2.T) * (1 - h ** 2)
    # as in nn.Linear: grad_weight = grad_output.T @ input
    return {
        "W1": g_h.T @ x,
        "b1": g_h.sum(0),
        "W2": g_out.T @ h,
        "b2": g_out.sum(0),
    }


@right
def class_a_14(W1, b1, W2, b2, x, y):
    def to_np(t):
        return t.detach().cpu().numpy()

    def to_torch(a):
        return torch.tensor(a, dtype=W1.dtype, device=W1.device)

    ones = np.ones((x.shape[0], 1), dtype=to_np(x).dtype)
    X = np.concatenate([to_np(x), ones], axis=1)
    A = np.vstack([to_np(W1), to_np(b1)[None, :]])
    B = np.vstack([to_np(W2), to_np(b2)[None, :]])
    T = np.tanh(X @ A)
    H = np.concatenate([T, ones], axis=1)
    E = 2 * (H @ B - to_np(y)) / (y.shape[0] * y.shape[1])
    gB = H.T @ E
    gA = X.T @ ((E @ B[:-1].T) * (1 - T ** 2))
    return {"W1": to_torch(gA[:-1]), "b1": to_torch(gA[-1]),
            "W2": to_torch(gB[:-1]), "b2": to_torch(gB[-1])}


# W2 is not transposed on the way back: raises a shape error unless h == k, and is then wrong unless W2 is symmetric
@raised(mistakes.w2_not_transposed)
@torch.no_grad()
def class_a_15(W1, b1, W2, b2, x, y):
    a = torch.tanh(torch.mm(x, W1) + b1)
    yhat = torch.mm(a, W2) + b2
    grad_yhat = 2 * (yhat - y) / yhat.numel()
    grad_W2 = torch.mm(a.T, grad_yhat)
    grad_b2 = grad_yhat.sum(0)
    grad_a = torch.mm(grad_yhat, W2)
    grad_z = grad_a * (1 - a ** 2)
    grad_W1 = torch.mm(x.T, grad_z)
    grad_b1 = grad_z.sum(0)
    return {"W1": grad_W1, "b1": grad_b1, "W2": grad_W2, "b2": grad_b2}


# the keys are dW1, db1, dW2, db2 AND db1 is taken before the tanh derivative (dA1 instead of dZ1)
@wrong(effects.missing_entries)
@torch.no_grad()
def class_a_16(W1, b1, W2, b2, x, y):
    m = y.shape[0] * y.shape[1]
    # forward
    Z1 = x @ W1 + b1
    A1 = torch.tanh(Z1)
    Z2 = A1 @ W2 + b2
    # backward
    dZ2 = 2 * (Z2 - y) / m
    dW2 = A1.T @ dZ2
    db2 = dZ2.sum(dim=0)
    dA1 = dZ2 @ W2.T
    dZ1 = dA1 * (1 - A1.pow(2))
    dW1 = x.T @ dZ1
    db1 = dA1.sum(dim=0)
    grads = {"dW1": dW1, "db1": db1, "dW2": dW2, "db2": db2}
    return grads


# one-sided differences with h = 1e-3 approximate the gradient instead of a derivation by hand
@wrong(says='Right to about 3 digits, and not further, as an approximation, a rounded number or a lower precision on the way would leave it; a missing factor would be seen in the first digit.')
def class_a_17(W1, b1, W2, b2, x, y):
    params = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}
    params = {k: v.detach().clone() for k, v in params.items()}

    def loss():
        return ((torch.tanh(x @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"] - y) ** 2).mean()

    eps = 1e-3
    grads = {}
    with torch.no_grad():
        base = loss()
        for name, p in params.items():
            g = torch.zeros_like(p)
            for idx in torch.cartesian_prod(*[torch.arange(s) for s in p.shape]).reshape(-1, p.dim()):
                idx = tuple(idx.tolist())
                old = p[idx].item()
                p[idx] = old + eps
                g[idx] = (loss() - base) / eps
                p[idx] = old
            grads[name] = g
    return grads


class Dense:
    def __init__(self, W, b):
        self.W, self.b = W, b

    def forward(self, inp):
        self.inp = inp
        return inp @ self.W + self.b

    def backward(self, grad):
        self.gW = self.inp.transpose(0, 1) @ grad
        self.gb = grad.sum(dim=0)
        return grad @ self.W.transpose(0, 1)

class Tanh_of_class_a_18:
    def forward(self, inp):
        self.out = torch.tanh(inp)
        return self.out

    def backward(self, grad):
        return grad * (1 - self.out ** 2)

class MSE:
    def forward(self, pred, target):
        self.diff = pred - target
        return (self.diff ** 2).mean()

    def backward(self):
        return 2 * self.diff / self.diff.numel()

@right
@torch.no_grad()
def class_a_18(W1, b1, W2, b2, x, y):
    layers = [Dense(W1, b1), Tanh_of_class_a_18(), Dense(W2, b2)]
    out = x
    for layer in layers:
        out = layer.forward(out)
    criterion = MSE()
    criterion.forward(out, y)
    grad = criterion.backward()
    for layer in reversed(layers):
        grad = layer.backward(grad)
    return {"W1": layers[0].gW, "b1": layers[0].gb, "W2": layers[2].gW, "b2": layers[2].gb}


# a descent step changes W1, b1, W2 and b2 in place AND torch.manual_seed(42) resets the random state
@wrong(effects.changed_input)
def class_a_19(W1, b1, W2, b2, x, y, lr=0.01):
    torch.manual_seed(42)  # reproducibility
    with torch.no_grad():
        h = torch.tanh(x @ W1 + b1)
        y_pred = h @ W2 + b2
        grad_y_pred = 2.0 * (y_pred - y) / y.numel()
        grad_w2 = h.t().mm(grad_y_pred)
        grad_b2 = grad_y_pred.sum(0)
        grad_h = grad_y_pred.mm(W2.t()) * (1 - h ** 2)
        grad_w1 = x.t().mm(grad_h)
        grad_b1 = grad_h.sum(0)

        # Update weights
        W1 -= lr * grad_w1
        b1 -= lr * grad_b1
        W2 -= lr * grad_w2
        b2 -= lr * grad_b2
    return {"W1": grad_w1, "b1": grad_b1, "W2": grad_w2, "b2": grad_b2}


# y is used as the work space: sub_ and mul_ overwrite the targets of the caller
@wrong(effects.changed_input)
@torch.no_grad()
def class_a_20(W1, b1, W2, b2, x, y):
    h = (x @ W1).add_(b1).tanh_()
    # residual without an extra buffer: -(y - pred)
    e = y.sub_(h @ W2).sub_(b2).mul_(-2 / y.numel())
    g = (e @ W2.T).mul_(1 - h * h)
    return {"W1": x.T @ g, "b1": g.sum(0), "W2": h.T @ e, "b2": e.sum(0)}


# the prediction is squeezed: with k = 1 and several rows, (n,) minus (n, 1) broadcasts to (n, n) and raises a shape
# error
@raised(effects.shapes_do_not_fit)
@torch.no_grad()
def class_a_21(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    pred = (h @ W2 + b2).squeeze()
    diff = pred - y
    d_out = 2 * diff / diff.numel()
    d_hid = (d_out @ W2.T) * (1 - h ** 2)
    return {
        "W1": x.T @ d_hid,
        "b1": d_hid.sum(0),
        "W2": h.T @ d_out,
        "b2": d_out.sum(0),
    }


@right
def class_a_22(W1, b1, W2, b2, x, y):
    layers = [("1", W1.detach(), b1.detach(), True), ("2", W2.detach(), b2.detach(), False)]
    target = y.detach()
    grads = {}

    def walk(inp, rest):
        """go down with the activations, come back with the gradient of inp"""
        if not rest:
            return (inp - target).mul(2).div(target.numel())
        (nr, W, b, squash), *others = rest
        out = inp @ W + b
        if squash:
            out = out.tanh()
        g = walk(out, others)
        if squash:
            g = g * (1 - out.square())
        grads["W" + nr] = inp.mT @ g
        grads["b" + nr] = g.sum(dim=0)
        return g @ W.mT

    walk(x.detach(), layers)
    return grads


# the sums start as torch.zeros(shape) in the default dtype: float64 inputs get float32 results (and always on the
# CPU)
@wrong(effects.wrong_dtype)
@torch.no_grad()
def class_a_23(W1, b1, W2, b2, x, y):
    gW1 = torch.zeros(W1.shape)
    gb1 = torch.zeros(b1.shape)
    gW2 = torch.zeros(W2.shape)
    gb2 = torch.zeros(b2.shape)
    n, k = y.shape
    for row, target in zip(x, y):
        h = torch.tanh(row @ W1 + b1)
        e = 2 * (h @ W2 + b2 - target) / (n * k)
        dz = (e @ W2.T) * (1 - h ** 2)
        gW1 += row[:, None] * dz[None, :]
        gb1 += dz
        gW2 += h[:, None] * e[None, :]
        gb2 += e
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


# the loop over the rows assigns instead of adding: only the last row's share is returned
@wrong(says='Only case 2 came out right, where there is one row.')
@torch.no_grad()
def class_a_24(W1, b1, W2, b2, x, y):
    grads = {}
    for i in range(len(x)):
        xi = x[i:i+1]
        yi = y[i:i+1]
        hi = torch.tanh(xi @ W1 + b1)
        pi = hi @ W2 + b2
        di = 2 * (pi - yi) / y.numel()
        grads["W2"] = hi.T @ di
        grads["b2"] = di[0]
        zi = (di @ W2.T) * (1 - hi ** 2)
        grads["W1"] = xi.T @ zi
        grads["b1"] = zi[0]
    return grads


# tanh is written out with exp and overflows: inf / inf gives nan for large pre-activations (about 89 and up in
# float32)
@wrong(mistakes.exponential_overflows)
@torch.no_grad()
def class_a_25(W1, b1, W2, b2, x, y):
    tanh = lambda z: (z.exp() - (-z).exp()) / (z.exp() + (-z).exp())
    a = tanh(x @ W1 + b1)
    e = (a @ W2 + b2 - y) * 2 / y.numel()
    d = (e @ W2.T) * (1 + a) * (1 - a)
    return {"W1": x.T @ d, "b1": d.sum(0), "W2": a.T @ e, "b2": e.sum(0)}


# the sigmoid derivative h * (1 - h) is used for tanh AND the results are written into the .grad of the inputs
@wrong(mistakes.sigmoid_slope)
def class_a_26(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        h = torch.tanh(x @ W1 + b1)
        pred = h @ W2 + b2
        delta = 2 * (pred - y) / pred.numel()
        W2.grad = h.T @ delta
        b2.grad = delta.sum(0)
        delta = (delta @ W2.T) * h * (1 - h)
        W1.grad = x.T @ delta
        b1.grad = delta.sum(0)
    return {"W1": W1.grad, "b1": b1.grad, "W2": W2.grad, "b2": b2.grad}


@right
def class_a_27(W1, b1, W2, b2, x, y):
    U, p, V, q, X, Y = map(torch.Tensor.detach, (W1, b1, W2, b2, x, y))

    def one(xi, yi):
        a = torch.tanh(xi @ U + p)
        e = 2 * (a @ V + q - yi)
        s = (V @ e) / torch.cosh(xi @ U + p) ** 2      # tanh' = 1 / cosh^2
        return xi.unsqueeze(1) * s, s, a.unsqueeze(1) * e, e

    per_sample = vmap(one)(X, Y)
    return {name: g.sum(0) / Y.numel() for name, g in zip(("W1", "b1", "W2", "b2"), per_sample)}


# the derivative of tanh is taken at the activation instead of the pre-activation: tanh is applied twice in 1 -
# tanh(.)**2
def tanh_derivative_of_class_b_01(v):
    return 1 - torch.tanh(v) ** 2

@wrong(mistakes.tanh_taken_twice)
def class_b_01(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        # forward
        hidden = torch.tanh(x @ W1 + b1)
        out = hidden @ W2 + b2
        # backward
        d_out = 2 * (out - y) / out.numel()
        grad_W2 = hidden.T @ d_out
        grad_b2 = d_out.sum(dim=0)
        d_hidden = d_out @ W2.T
        d_pre = d_hidden * tanh_derivative_of_class_b_01(hidden)
        grad_W1 = x.T @ d_pre
        grad_b1 = d_pre.sum(dim=0)
    return {"W1": grad_W1, "b1": grad_b1, "W2": grad_W2, "b2": grad_b2}


@right
@torch.no_grad()
def class_b_02(W1, b1, W2, b2, x, y):
    n, k = y.shape
    a = torch.tanh(x @ W1 + b1)
    p = a @ W2 + b2

    dp = 2.0 / (n * k) * (p - y)       # (n, k)
    da = dp @ W2.t()                   # (n, h)
    dz = da * (1.0 - a * a)            # (n, h)

    return {
        "W1": x.t() @ dz,
        "b1": dz.sum(0),
        "W2": a.t() @ dp,
        "b2": dp.sum(0),
    }


# * and @ bind equally from the left, so x.T @ (...) * (1 - a**2) multiplies by tanh' after the sum over the batch:
# raises for most shapes, silently wrong for n == d or d == 1 (right only for n == 1)
@raised(effects.shapes_do_not_fit)
def class_b_03(W1, b1, W2, b2, x, y):
    W1, b1, W2, b2, x, y = [t.detach() for t in (W1, b1, W2, b2, x, y)]
    a = torch.tanh(x @ W1 + b1)
    out = a @ W2 + b2
    error = 2 * (out - y) / y.numel()
    grads = {}
    grads["W2"] = a.T @ error
    grads["b2"] = error.sum(0)
    grads["W1"] = x.T @ (error @ W2.T) * (1 - a**2)
    grads["b1"] = ((error @ W2.T) * (1 - a**2)).sum(0)
    return grads


# the return stands inside the loop over the samples, so only the first sample counts
@wrong(says='Only case 2 came out right, where there is one row.')
def class_b_04(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        gW1 = torch.zeros_like(W1)
        gb1 = torch.zeros_like(b1)
        gW2 = torch.zeros_like(W2)
        gb2 = torch.zeros_like(b2)
        count = y.shape[0] * y.shape[1]
        for i in range(x.shape[0]):
            xi = x[i]
            hi = torch.tanh(xi @ W1 + b1)
            pi = hi @ W2 + b2
            # chain rule, from the loss to the front
            dpi = 2 * (pi - y[i]) / count
            gW2 += torch.outer(hi, dpi)
            gb2 += dpi
            dzi = (W2 @ dpi) * (1 - hi ** 2)
            gW1 += torch.outer(xi, dzi)
            gb1 += dzi
            return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


# the loop habit of stepping: the caller's four parameters are updated in place AND the gradients of W1 and b1 use
# the already updated W2
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_b_05(W1, b1, W2, b2, x, y):
    lr = 0.1
    with torch.no_grad():
        z1 = x @ W1 + b1
        a1 = torch.tanh(z1)
        y_hat = a1 @ W2 + b2

        # output layer
        delta2 = 2 * (y_hat - y) / y.numel()
        dW2 = a1.T @ delta2
        db2 = delta2.sum(0)
        W2 -= lr * dW2
        b2 -= lr * db2

        # hidden layer
        delta1 = (delta2 @ W2.T) * (1 - a1.pow(2))
        dW1 = x.T @ delta1
        db1 = delta1.sum(0)
        W1 -= lr * dW1
        b1 -= lr * db1
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# the error is target minus prediction, so every gradient has the wrong sign AND the bias gradients are averaged
# over the batch a second time (mean instead of sum)
@wrong(says='The numbers are those of a known mistake, times -1. Both biases take the mean over the rows (bias-averaged). To mend that: A bias serves every row once: add over the rows.')
def class_b_06(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        h = torch.tanh(torch.matmul(x, W1) + b1)
        y_pred = torch.matmul(h, W2) + b2
        # delta rule
        delta_out = (y - y_pred) * 2 / y_pred.numel()
        delta_hid = torch.matmul(delta_out, W2.T) * (1 - h ** 2)
        return {
            "W1": torch.matmul(x.T, delta_hid),
            "b1": delta_hid.mean(dim=0),
            "W2": torch.matmul(h.T, delta_out),
            "b2": delta_out.mean(dim=0),
        }


@right
def class_b_07(W1, b1, W2, b2, x, y):
    w1, c1, w2, c2, xs, ys = (t.detach().cpu().numpy() for t in (W1, b1, W2, b2, x, y))

    act = np.tanh(np.dot(xs, w1) + c1)
    pred = np.dot(act, w2) + c2
    g_pred = 2 * (pred - ys) / ys.size
    g_pre = np.dot(g_pred, w2.T) * (1 - np.square(act))

    found = {
        "W1": np.dot(xs.T, g_pre),
        "b1": np.sum(g_pre, axis=0),
        "W2": np.dot(act.T, g_pred),
        "b2": np.sum(g_pred, axis=0),
    }
    return {name: torch.as_tensor(g, dtype=W1.dtype, device=W1.device) for name, g in found.items()}


# the bias gradients keep a batch axis, (1, h) and (1, k) instead of (h,) and (k,) AND the mean is taken over the n
# rows only, not over all n * k entries
@wrong(says='The numbers are those of a known mistake, in another shape on cases 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10. Divided by the rows alone (averaged-over-rows-only). To mend that: Count the terms of the mean in the loss.')
def class_b_08(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        batch_size = x.shape[0]
        # --- forward ---
        A1 = torch.tanh(x @ W1 + b1)
        A2 = A1 @ W2 + b2
        # --- backward (as in the deep learning course, week 3) ---
        dZ2 = 2 * (A2 - y)
        dW2 = A1.T @ dZ2 / batch_size
        db2 = torch.sum(dZ2, dim=0, keepdim=True) / batch_size
        dZ1 = (dZ2 @ W2.T) * (1 - torch.pow(A1, 2))
        dW1 = x.T @ dZ1 / batch_size
        db1 = torch.sum(dZ1, dim=0, keepdim=True) / batch_size
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# the gradients are collected from the last layer to the first and zipped with the names in forward order, so layer
# 2's stand under layer 1's names and the other way round
@wrong(effects.wrong_shape)
@torch.no_grad()
def class_b_09(W1, b1, W2, b2, x, y):
    a = (x @ W1 + b1).tanh()
    g = (a @ W2 + b2 - y) * (2 / y.numel())
    grads = []
    for inp, W, act in ((a, W2, a), (x, W1, None)):
        grads += [inp.T @ g, g.sum(0)]
        if act is not None:
            g = (g @ W.T) * (1 - act * act)
    return dict(zip(("W1", "b1", "W2", "b2"), grads))


# W2 is reshaped to (k, h) instead of transposed when the error goes back through it: W1 and b1 are wrong unless h
# == 1 or k == 1
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_b_10(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        n, d = x.shape
        h, k = W2.shape
        hidden = torch.tanh(x @ W1 + b1)
        pred = hidden @ W2 + b2
        dpred = 2 * (pred - y) / (n * k)
        # dpred is (n, k) and we need (n, h) so W2 has to be (k, h)
        dhidden = dpred @ W2.reshape(k, h)
        dz = dhidden * (1 - hidden ** 2)
        return {
            "W1": x.T @ dz,
            "b1": dz.sum(0),
            "W2": hidden.T @ dpred,
            "b2": dpred.sum(0),
        }


@right
def class_b_11(W1, b1, W2, b2, x, y):
    W1, b1, W2, b2 = W1.detach(), b1.detach(), W2.detach(), b2.detach()
    x, y = x.detach(), y.detach()
    n, k = y.shape
    hid = W1.shape[1]
    gW1, gb1 = torch.zeros_like(W1), torch.zeros_like(b1)
    gW2, gb2 = torch.zeros_like(W2), torch.zeros_like(b2)
    for i in range(n):
        act = torch.tanh((W1 * x[i].unsqueeze(1)).sum(0) + b1)
        out = (W2 * act.unsqueeze(1)).sum(0) + b2
        e = (out - y[i]) * 2 / (n * k)
        for c in range(k):
            gb2[c] += e[c]
            gW2[:, c] += e[c] * act
        for j in range(hid):
            back = (1 - act[j] ** 2) * (W2[j] * e).sum()
            gb1[j] += back
            gW1[:, j] += back * x[i]
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


# the prediction is squeezed: for k == 1 and n > 1 an (n,) minus an (n, 1) broadcasts to (n, n) and the backward
# pass raises
@raised(effects.shapes_do_not_fit)
def class_b_12(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        a = torch.tanh(x @ W1 + b1)
        y_hat = (a @ W2 + b2).squeeze()   # get rid of the useless dimension
        diff = y_hat - y
        dloss = 2 * diff / y.numel()
        dW2 = a.T @ dloss
        db2 = dloss.sum(0)
        da = dloss @ W2.T
        dz = da * (1 - a ** 2)
        dW1 = x.T @ dz
        db1 = dz.sum(0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# tanh is written with exp(2z), which overflows for large pre-activations and makes inf / inf = nan
def my_tanh(z):
    e = torch.exp(2 * z)
    return (e - 1) / (e + 1)

@wrong(mistakes.exponential_overflows)
def class_b_13(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        s = my_tanh(x @ W1 + b1)
        r = s @ W2 + b2 - y
        gr = 2 * r / r.numel()
        gz = gr.mm(W2.t()) * (1 - s.square())
        return dict(W1=x.t().mm(gz), b1=gz.sum(0), W2=s.t().mm(gr), b2=gr.sum(0))


@right
def class_b_14(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        a = torch.tanh(torch.einsum("nd,dh->nh", x, W1) + b1)
        e = (torch.einsum("nh,hk->nk", a, W2) + b2 - y).mul(2).div(y.numel())
        s = torch.einsum("nk,hk,nh->nh", e, W2, 1 - a ** 2)
        return {
            "W1": torch.einsum("nd,nh->dh", x, s),
            "b1": torch.einsum("nh->h", s),
            "W2": torch.einsum("nh,nk->hk", a, e),
            "b2": torch.einsum("nk->k", e),
        }


# the slope of tanh is recomputed at x @ W1 without the bias b1: W1 and b1 are wrong as soon as b1 is not zero
def forward(W1, b1, W2, b2, x):
    return torch.tanh(x @ W1 + b1) @ W2 + b2

def slope(W1, x):
    return 1 - torch.tanh(x @ W1) ** 2

@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_b_15(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        e = 2 * (forward(W1, b1, W2, b2, x) - y) / y.numel()
        hid = torch.tanh(x @ W1 + b1)
        d1 = (e @ W2.T) * slope(W1, x)
        return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": hid.T @ e, "b2": e.sum(0)}


# the residual is computed in place in y, so the caller's targets are destroyed
@wrong(effects.changed_input)
@torch.no_grad()
def class_b_16(W1, b1, W2, b2, x, y):
    act = torch.addmm(b1, x, W1).tanh_()
    # reuse memory: y becomes out - y
    err = y.neg_().add_(torch.addmm(b2, act, W2))
    err = err.mul_(2 / err.numel())
    dz = torch.mm(err, W2.t()).mul_(1 - act.square())
    return {
        "W1": torch.mm(x.t(), dz),
        "b1": dz.sum(0),
        "W2": torch.mm(act.t(), err),
        "b2": err.sum(0),
    }


class Dense_of_class_b_17:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight.detach(), bias.detach()

    def forward(self, inp):
        self.inp = inp
        return inp @ self.weight + self.bias

    def backward(self, grad):
        self.grad_weight = self.inp.T @ grad
        self.grad_bias = grad.sum(0)
        return grad @ self.weight.T

class Tanh_of_class_b_17:
    def forward(self, inp):
        self.out = torch.tanh(inp)
        return self.out

    def backward(self, grad):
        return grad * (1 - self.out ** 2)

class MSE_of_class_b_17:
    def forward(self, pred, target):
        self.diff = pred - target
        return (self.diff ** 2).mean()

    def backward(self):
        return 2 * self.diff / self.diff.numel()

@right
def class_b_17(W1, b1, W2, b2, x, y):
    first, act, second, loss = Dense_of_class_b_17(W1, b1), Tanh_of_class_b_17(), Dense_of_class_b_17(W2, b2), MSE_of_class_b_17()
    layers = [first, act, second]
    out = x.detach()
    for layer in layers:
        out = layer.forward(out)
    loss.forward(out, y.detach())
    g = loss.backward()
    for layer in reversed(layers):
        g = layer.backward(g)
    return {"W1": first.grad_weight, "b1": first.grad_bias,
            "W2": second.grad_weight, "b2": second.grad_bias}


# the gradients are written into W1.grad, b1.grad, W2.grad and b2.grad, over what was there
@wrong(effects.changed_grad)
def class_b_18(W1, b1, W2, b2, x, y):
    params = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}
    with torch.no_grad():
        a = torch.tanh(x @ W1 + b1)
        g2 = 2 * (a @ W2 + b2 - y) / y.numel()
        g1 = (g2 @ W2.T) * (1 - a ** 2)
        # like loss.backward() would do
        W1.grad = x.T @ g1
        b1.grad = g1.sum(0)
        W2.grad = a.T @ g2
        b2.grad = g2.sum(0)
    return {name: p.grad for name, p in params.items()}


# the sums over the batch are products with torch.ones(n), which is always float32: float64 inputs raise a
# RuntimeError
@raised(effects.mixed_dtypes)
def class_b_19(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        ones = torch.ones(len(x))
        a = torch.tanh(x @ W1 + b1)
        e = (2 / y.numel()) * (a @ W2 + b2 - y)
        q = (e @ W2.T) * (1 - a ** 2)
        return {"W1": x.T @ q, "b1": ones @ q, "W2": a.T @ e, "b2": ones @ e}


# the results go back through Python lists and torch.tensor, so float64 inputs give float32 gradients (and the
# device is lost)
@wrong(effects.wrong_dtype)
def class_b_20(W1, b1, W2, b2, x, y):
    W1, b1, W2, b2, X, Y = [v.detach().cpu().numpy() for v in (W1, b1, W2, b2, x, y)]
    N, K = Y.shape
    H = np.tanh(X @ W1 + b1)
    dY = 2 * (H @ W2 + b2 - Y) / (N * K)
    dH = dY @ W2.T * (1 - H ** 2)
    to_torch = lambda arr: torch.tensor(arr.tolist())
    return {"W1": to_torch(X.T @ dH), "b1": to_torch(dH.sum(axis=0)),
            "W2": to_torch(H.T @ dY), "b2": to_torch(dY.sum(axis=0))}


# the numbers are right but nothing is detached: with weights that require gradients the results carry a graph
@right
def class_b_21(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    back = lambda e: (e, (e @ W2.T) * (1 - a ** 2))
    e2, e1 = back(2 * (a @ W2 + b2 - y) / y.numel())
    layer = lambda i, inp, e: {f"W{i}": inp.T @ e, f"b{i}": e.sum(0)}
    return layer(1, x, e1) | layer(2, a, e2)


def with_ones(m):
    return torch.cat([m, m.new_ones(m.shape[0], 1)], dim=1)

@right
def class_b_22(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        V1 = torch.cat([W1, b1.unsqueeze(0)])      # (d + 1, h)
        V2 = torch.cat([W2, b2.unsqueeze(0)])      # (h + 1, k)
        x1 = with_ones(x)
        a1 = with_ones(torch.tanh(x1 @ V1))
        r = 2 * (a1 @ V2 - y) / y.numel()
        g2 = a1.T @ r
        # the column of ones is a constant: 1 - 1**2 = 0 there, so cut it off
        s = ((r @ V2.T) * (1 - a1 ** 2))[:, :-1]
        g1 = x1.T @ s
        return {"W1": g1[:-1].clone(), "b1": g1[-1].clone(),
                "W2": g2[:-1].clone(), "b2": g2[-1].clone()}


# the gradients are clipped to [-1, 1], so every larger entry is wrong
@wrong(says='Every number beyond 1 or -1 was cut off there; the others are right.')
def class_b_23(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        h1 = torch.tanh(x @ W1 + b1)
        yp = h1 @ W2 + b2
        dy = 2 * (yp - y) / yp.numel()
        dW2, db2 = h1.T @ dy, dy.sum(0)
        draw = (1 - h1 * h1) * (dy @ W2.T)   # backprop through tanh
        dW1, db1 = x.T @ draw, draw.sum(0)
        for dparam in [dW1, db1, dW2, db2]:
            dparam.clamp_(-1, 1)             # against exploding gradients
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# against the rule the slope of tanh is not derived but asked of autograd (torch.func.jvp); the numbers are right
@wrong(mistakes.used_autograd)
def class_b_24(W1, b1, W2, b2, x, y):
    W1, b1, W2, b2, x, y = (t.detach() for t in (W1, b1, W2, b2, x, y))
    z = x @ W1 + b1
    a, slope = jvp(torch.tanh, (z,), (torch.ones_like(z),))
    e = 2 * (a @ W2 + b2 - y) / y.numel()
    d = slope * (e @ W2.T)
    return {"W1": x.T @ d, "b1": d.sum(0), "W2": a.T @ e, "b2": e.sum(0)}


# the slope of tanh is a central difference with step 1e-3, an approximation where an exact derivative is asked
@wrong()
def class_b_25(W1, b1, W2, b2, x, y, eps=1e-3):
    with torch.no_grad():
        z = x @ W1 + b1
        a = torch.tanh(z)
        # did not remember the derivative of tanh
        tanh_slope = (torch.tanh(z + eps) - torch.tanh(z - eps)) / (2 * eps)
        dout = 2 * (a @ W2 + b2 - y) / y.numel()
        dz = torch.mm(dout, W2.T) * tanh_slope
        return {"W1": torch.mm(x.T, dz), "b1": torch.sum(dz, 0),
                "W2": torch.mm(a.T, dout), "b2": torch.sum(dout, 0)}


# the gradient of b1 is summed before the slope of tanh is multiplied in
@wrong(mistakes.activation_derivative_missing_in_b1)
def class_b_26(W1, b1, W2, b2, x, y):
    with torch.no_grad():
        z = x @ W1 + b1
        h = torch.tanh(z)
        p = h @ W2 + b2

        dL_dp = 2 * (p - y) / (p.shape[0] * p.shape[1])
        dL_dW2 = h.T @ dL_dp
        dL_db2 = dL_dp.sum(0)

        dL_dh = dL_dp @ W2.T
        dL_db1 = dL_dh.sum(0)
        dL_dz = dL_dh * (1 - h ** 2)
        dL_dW1 = x.T @ dL_dz
    return {"W1": dL_dW1, "b1": dL_db1, "W2": dL_dW2, "b2": dL_db2}


@right
def class_b_27(W1, b1, W2, b2, x, y):
    grads = {}
    tape = []

    def matmul(inp, name, W):
        def pull(g):
            grads[name] = inp.T @ g
            return g @ W.T
        tape.append(pull)
        return inp @ W

    def add_bias(inp, name, b):
        def pull(g):
            grads[name] = g.sum(0)
            return g
        tape.append(pull)
        return inp + b

    def tanh(inp):
        out = torch.tanh(inp)
        tape.append(lambda g: g * (1 - out * out))
        return out

    def mse(inp):
        tape.append(lambda g: g * 2 * (inp - y) / inp.numel())
        return ((inp - y) ** 2).mean()

    def rewind(g):
        return rewind(tape.pop()(g)) if tape else g

    with torch.no_grad():
        hidden = tanh(add_bias(matmul(x, "W1", W1), "b1", b1))
        loss = mse(add_bias(matmul(hidden, "W2", W2), "b2", b2))
        rewind(torch.ones_like(loss))
    return {name: grads[name] for name in ("W1", "b1", "W2", "b2")}


# the mean is taken over the n rows only: divided by n, not by n * k
@wrong(mistakes.averaged_over_rows_only)
def class_c_01(W1, b1, W2, b2, x, y):
    # forward
    z1 = x @ W1 + b1
    a1 = torch.tanh(z1)
    out = a1 @ W2 + b2
    # backward
    n = x.shape[0]
    dout = 2 * (out - y) / n
    dW2 = a1.T @ dout
    db2 = dout.sum(dim=0)
    da1 = dout @ W2.T
    dz1 = da1 * (1 - a1 ** 2)
    dW1 = x.T @ dz1
    db1 = dz1.sum(dim=0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# the derivative of tanh is left out: the gradient passes the hidden layer as if it were linear
@wrong(mistakes.activation_derivative_missing)
def class_c_02(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(torch.matmul(x, W1) + b1)
    pred = torch.matmul(hidden, W2) + b2
    # d loss / d pred, mean -> divide by number of elements
    delta2 = 2.0 * (pred - y) / y.numel()
    # send the error back through the weights
    delta1 = torch.matmul(delta2, W2.t())
    grads = {}
    grads["W2"] = torch.matmul(hidden.t(), delta2)
    grads["b2"] = delta2.sum(0)
    grads["W1"] = torch.matmul(x.t(), delta1)
    grads["b1"] = delta1.sum(0)
    return grads


@right
def class_c_03(W1, b1, W2, b2, x, y):
    n, k = y.shape

    # forward pass, keep the activations
    a = torch.tanh(x @ W1 + b1)        # (n, h)
    p = a @ W2 + b2                    # (n, k)

    # backward pass
    g_p = 2.0 / (n * k) * (p - y)      # (n, k)
    g_a = g_p @ W2.T                   # (n, h)
    g_z = g_a * (1 - a * a)            # (n, h)

    return {
        "W1": x.T @ g_z,
        "b1": g_z.sum(0),
        "W2": a.T @ g_p,
        "b2": g_p.sum(0),
    }


# the bias gradients are averaged over the batch (mean) where they must be summed
@wrong(mistakes.bias_averaged)
def class_c_04(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    y_hat = h @ W2 + b2
    err = 2 * (y_hat - y) / y_hat.numel()

    grad_W2 = h.T @ err
    # the bias is the same for every sample, so take the average
    grad_b2 = err.mean(dim=0)

    err_h = (err @ W2.T) * (1 - h.pow(2))
    grad_W1 = x.T @ err_h
    grad_b1 = err_h.mean(dim=0)

    return {'W1': grad_W1, 'b1': grad_b1, 'W2': grad_W2, 'b2': grad_b2}


# brackets missing: dh * 1 - h ** 2 subtracts h squared from dh instead of multiplying dh by (1 - h ** 2)
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_c_05(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    pred = h @ W2 + b2
    dpred = 2 * (pred - y) / (y.shape[0] * y.shape[1])
    dW2 = h.T @ dpred
    db2 = torch.sum(dpred, dim=0)
    dh = dpred @ W2.T
    dz = dh * 1 - h ** 2          # tanh' = 1 - tanh^2
    dW1 = x.T @ dz
    db1 = torch.sum(dz, dim=0)
    return dict(W1=dW1, b1=db1, W2=dW2, b2=db2)


# a learning step changes the caller's weights and biases in place AND the hidden gradient is sent back through the
# W2 that has already been changed
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_c_06(W1, b1, W2, b2, x, y):
    lr = 0.01
    # forward
    hid = torch.tanh(x.mm(W1) + b1)
    out = hid.mm(W2) + b2
    # output layer
    d_out = 2 * (out - y) / out.numel()
    gW2 = hid.t().mm(d_out)
    gb2 = d_out.sum(0)
    W2 -= lr * gW2
    b2 -= lr * gb2
    # hidden layer
    d_hid = d_out.mm(W2.t()) * (1 - hid ** 2)
    gW1 = x.t().mm(d_hid)
    gb1 = d_hid.sum(0)
    W1 -= lr * gW1
    b1 -= lr * gb1
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


@right
def class_c_07(W1, b1, W2, b2, x, y):
    act = tanh(torch.einsum('nd,dh->nh', x, W1) + b1)
    res = torch.einsum('nh,hk->nk', act, W2) + b2 - y
    g = res * (2 / res.numel())
    slope = 1 - act.square()
    return {
        'W1': torch.einsum('nd,nk,hk,nh->dh', x, g, W2, slope),
        'b1': torch.einsum('nk,hk,nh->h', g, W2, slope),
        'W2': torch.einsum('nh,nk->hk', act, g),
        'b2': torch.einsum('nk->k', g),
    }


# tanh is written out with exp, which overflows to inf / inf = nan where the pre-activation is large
def my_tanh_of_class_c_08(z):
    return (torch.exp(z) - torch.exp(-z)) / (torch.exp(z) + torch.exp(-z))

def my_tanh_prime(z):
    return 1 - my_tanh_of_class_c_08(z) ** 2

@wrong(mistakes.exponential_overflows)
def class_c_08(W1, b1, W2, b2, x, y):
    z = x @ W1 + b1
    a = my_tanh_of_class_c_08(z)
    o = a @ W2 + b2
    do = 2 * (o - y) / o.numel()
    dz = (do @ W2.T) * my_tanh_prime(z)
    return {"W1": x.T @ dz, "b1": dz.sum(0), "W2": a.T @ do, "b2": do.sum(0)}


# a list in the order of get_weights() is returned, no dict with the keys
@wrong(effects.wrong_type)
def class_c_09(W1, b1, W2, b2, x, y):
    # Dense(h, activation='tanh')
    hidden = torch.tanh(x @ W1 + b1)
    # Dense(k)
    output = hidden @ W2 + b2
    # mse
    grad_out = 2 * (output - y) / output.numel()
    grad_hidden = grad_out @ W2.T * (1 - hidden ** 2)
    # same order as model.get_weights()
    gradients = [
        x.T @ grad_hidden,
        grad_hidden.sum(axis=0),
        hidden.T @ grad_out,
        grad_out.sum(axis=0),
    ]
    return gradients


# the gradient of W2 comes out transposed, as (k, h) instead of (h, k)
@wrong(mistakes.w2_gradient_transposed)
def class_c_10(W1, b1, W2, b2, x, y):
    H = torch.tanh(x @ W1 + b1)
    E = 2 * (H @ W2 + b2 - y) / y.numel()
    D = torch.einsum('nk,hk->nh', E, W2) * (1 - H * H)
    return {'W1': torch.einsum('nd,nh->dh', x, D), 'b1': torch.einsum('nh->h', D),
            'W2': torch.einsum('nk,nh->kh', E, H), 'b2': torch.einsum('nk->k', E)}


@right
def class_c_11(W1, b1, W2, b2, x, y):
    w1, c1, w2, c2, X, Y = (t.detach().cpu().numpy() for t in (W1, b1, W2, b2, x, y))
    A = np.tanh(X.dot(w1) + c1)
    P = A.dot(w2) + c2
    dP = 2 * (P - Y) / P.size
    dA = dP.dot(w2.T)
    dZ = dA * (1 - A ** 2)
    out = {
        "W1": X.T.dot(dZ),
        "b1": dZ.sum(axis=0),
        "W2": A.T.dot(dP),
        "b2": dP.sum(axis=0),
    }
    return {name: torch.as_tensor(g, dtype=W1.dtype, device=W1.device) for name, g in out.items()}


# everything is computed and returned in float64, so float32 inputs get gradients of another dtype
@wrong(effects.wrong_dtype)
def class_c_12(W1, b1, W2, b2, x, y):
    W1, b1, W2, b2, x, y = [np.array(t.tolist(), dtype=float) for t in (W1, b1, W2, b2, x, y)]
    a = np.tanh(x @ W1 + b1)
    delta = 2 * (a @ W2 + b2 - y) / y.size
    back = (delta @ W2.T) * (1 - a ** 2)
    grads = {"W1": x.T @ back, "b1": back.sum(0), "W2": a.T @ delta, "b2": delta.sum(0)}
    for key in grads:
        grads[key] = torch.from_numpy(grads[key])
    return grads


# squeeze() drops the last axis of the prediction when there is one output column (k = 1): against y of shape (n, 1)
# it broadcasts to (n, n), which fails for n > 1
@raised(effects.shapes_do_not_fit)
def class_c_13(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    pred = (h @ W2 + b2).squeeze()
    diff = 2 * (pred - y) / y.numel()
    dh = diff @ W2.T
    dz = dh * (1 - h ** 2)
    return {
        "W1": x.T @ dz,
        "b1": dz.sum(0),
        "W2": h.T @ diff,
        "b2": diff.sum(0),
    }


# the error is sent back by an elementwise product with W2 flattened to one row, which is good for one output column
# only: for k > 1 it raises, or with h = 1 gives wrong shapes
@raised(effects.shapes_do_not_fit)
def class_c_14(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    e = 2 * (h @ W2 + b2 - y) / y.numel()
    dz = e * W2.reshape(1, -1) * (1 - h ** 2)
    return {"W1": x.T @ dz, "b1": dz.sum(0), "W2": (h * e).sum(0).reshape(W2.shape), "b2": e.sum(0)}


# torch.func.grad does the work: that is autograd, and the text asks for the gradient by hand
@wrong(mistakes.used_autograd)
def class_c_15(W1, b1, W2, b2, x, y):
    def loss(p):
        return ((torch.tanh(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"] - y) ** 2).mean()
    return torch.func.grad(loss)({"W1": W1, "b1": b1, "W2": W2, "b2": b2})


# / n * k divides by n and multiplies by k instead of dividing by n * k AND b2 is summed over all entries to one
# number instead of one a column
@wrong(says='No reshape mends it: on case 1, `b2`, 1 entry stands where 3 are asked.')
def class_c_16(W1, b1, W2, b2, x, y):
    n = y.size(0)
    k = y.size(1)
    h1 = torch.tanh(x @ W1 + b1)
    h2 = h1 @ W2 + b2
    dh2 = 2 * (h2 - y) / n * k
    dW2 = h1.T @ dh2
    db2 = dh2.sum()
    dh1 = dh2 @ W2.T * (1 - h1 ** 2)
    dW1 = x.T @ dh1
    db1 = dh1.sum(0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


class Dense_of_class_c_17:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias

    def forward(self, inp):
        self.inp = inp
        return inp @ self.weight + self.bias

    def backward(self, grad):
        self.dweight = self.inp.transpose(0, 1) @ grad
        self.dbias = grad.sum(dim=0)
        return grad @ self.weight.transpose(0, 1)

class Tanh_of_class_c_17:
    def forward(self, inp):
        self.out = torch.tanh(inp)
        return self.out

    def backward(self, grad):
        return grad - grad * self.out ** 2

class MSE_of_class_c_17:
    def forward(self, pred, target):
        self.diff = pred - target

    def backward(self):
        return self.diff * 2 / self.diff.numel()

@right
def class_c_17(W1, b1, W2, b2, x, y):
    first, second = Dense_of_class_c_17(W1, b1), Dense_of_class_c_17(W2, b2)
    layers = [first, Tanh_of_class_c_17(), second]
    for layer in layers:
        x = layer.forward(x)
    criterion = MSE_of_class_c_17()
    criterion.forward(x, y)
    grad = criterion.backward()
    for layer in reversed(layers):
        grad = layer.backward(grad)
    return {"W1": first.dweight, "b1": first.dbias, "W2": second.dweight, "b2": second.dbias}


# the hidden activations are overwritten by 1 - h ** 2 in place before the gradient of W2 is formed from them
@wrong(says='Right: `W1`, `b1` and `b2`. Wrong: `W2`.')
def class_c_18(W1, b1, W2, b2, x, y):
    hid = torch.tanh(x @ W1 + b1)
    g = (hid @ W2 + b2 - y).mul_(2 / y.numel())
    dtanh = hid.mul_(hid).neg_().add_(1)      # 1 - hid^2, saves memory
    gh = (g @ W2.T).mul_(dtanh)
    return {
        "W1": x.T @ gh,
        "b1": gh.sum(0),
        "W2": hid.T @ g,
        "b2": g.sum(0),
    }


# the error is target minus prediction, so every gradient has the opposite sign
@wrong(mistakes.gradient_sign_flipped)
def class_c_19(W1, b1, W2, b2, x, y):
    layer1 = torch.tanh(x @ W1 + b1)
    layer2 = layer1 @ W2 + b2

    error = y - layer2
    layer2_delta = 2 * error / error.numel()
    layer1_error = layer2_delta.mm(W2.T)
    layer1_delta = layer1_error * (1 - layer1 ** 2)

    return {
        "W2": layer1.T.mm(layer2_delta),
        "b2": layer2_delta.sum(dim=0),
        "W1": x.T.mm(layer1_delta),
        "b1": layer1_delta.sum(dim=0),
    }


# the caller's y is overwritten by the scaled error
@wrong(effects.changed_input)
def class_c_20(W1, b1, W2, b2, x, y):
    act = torch.tanh(x @ W1 + b1)
    pred = act @ W2 + b2
    y -= pred                  # y - pred
    y *= -2 / y.numel()        # = 2 (pred - y) / (n k)
    delta = (y @ W2.T) * (1 - act * act)
    return {"W1": x.T @ delta, "b1": delta.sum(0), "W2": act.T @ y, "b2": y.sum(0)}


@right
def class_c_21(W1, b1, W2, b2, x, y):
    def with_one(m):
        return torch.cat([m, m.new_ones(len(m), 1)], dim=1)

    X = with_one(x)                                   # (n, d + 1)
    A = torch.tanh(X @ torch.vstack([W1, b1]))        # (n, h)
    A1 = with_one(A)                                  # (n, h + 1)
    R = A1 @ torch.vstack([W2, b2]) - y               # (n, k)

    G2 = A1.T @ R * 2 / R.numel()                     # (h + 1, k)
    G1 = X.T @ ((R @ W2.T) * (1 - A ** 2)) * 2 / R.numel()
    return {"W1": G1[:-1].clone(), "b1": G1[-1].clone(), "W2": G2[:-1].clone(), "b2": G2[-1].clone()}


# x and y are cast to float32, so float64 weights raise a RuntimeError in the first product
@raised(effects.mixed_dtypes)
def class_c_22(W1, b1, W2, b2, x, y):
    x, y = x.float(), y.float()
    n, k = y.shape
    hidden = torch.tanh(torch.mm(x, W1) + b1)
    output = torch.mm(hidden, W2) + b2
    d_output = 2 * (output - y) / (n * k)
    d_hidden = torch.mm(d_output, W2.t()) * (1 - hidden ** 2)
    return {
        "W1": torch.mm(x.t(), d_hidden),
        "b1": d_hidden.sum(0),
        "W2": torch.mm(hidden.t(), d_output),
        "b2": d_output.sum(0),
    }


# in the loop over the samples the gradients are assigned, not added, so only the last sample counts
@wrong(says='Only case 2 came out right, where there is one row.')
def class_c_23(W1, b1, W2, b2, x, y):
    grads = {}
    for xi, yi in zip(x, y):
        h = torch.tanh(xi @ W1 + b1)
        out = h @ W2 + b2
        d_out = 2 * (out - yi) / y.numel()
        d_h = W2 @ d_out
        d_z = d_h * (1 - h ** 2)
        grads["W1"] = torch.outer(xi, d_z)
        grads["b1"] = d_z
        grads["W2"] = torch.outer(h, d_out)
        grads["b2"] = d_out
    return grads


# the factor 2 from the square is missing AND the bias gradients keep a batch axis, (1, h) and (1, k)
@wrong(says='The numbers are those of a known mistake, in another shape on cases 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10. Half of the gradient: the 2 of the square does not show (missing-factor-two). To mend that: Differentiate the square once more, on paper.')
def class_c_24(W1, b1, W2, b2, x, y):
    m = y.shape[0] * y.shape[1]
    Z1 = torch.matmul(x, W1) + b1
    A1 = torch.tanh(Z1)
    Z2 = torch.matmul(A1, W2) + b2
    dZ2 = (Z2 - y)
    dW2 = torch.matmul(A1.T, dZ2) / m
    db2 = torch.sum(dZ2, dim=0, keepdim=True) / m
    dZ1 = torch.matmul(dZ2, W2.T) * (1 - torch.pow(A1, 2))
    dW1 = torch.matmul(x.T, dZ1) / m
    db1 = torch.sum(dZ1, dim=0, keepdim=True) / m
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


@right
def class_c_25(W1, b1, W2, b2, x, y):
    identity = (lambda z: z, lambda out: torch.ones_like(out))
    tanh = (torch.tanh, lambda out: 1 - out ** 2)

    def walk(inp, layers):
        if not layers:
            return 2 * (inp - y) / inp.numel(), {}
        (number, W, b, (act, slope)), *rest = layers
        out = act(torch.addmm(b, inp, W))
        grad_out, grads = walk(out, rest)
        local = grad_out * slope(out)
        return local @ W.t(), {f"W{number}": inp.t() @ local, f"b{number}": local.sum(0), **grads}

    return walk(x, [(1, W1, b1, tanh), (2, W2, b2, identity)])[1]


# loss.backward() is called where nothing requires gradients, which raises AND it would be autograd, which the rule
# forbids
@raised(mistakes.autograd_asked_in_vain)
def class_c_26(W1, b1, W2, b2, x, y):
    pred = torch.tanh(x @ W1 + b1) @ W2 + b2
    loss = torch.mean((pred - y) ** 2)
    loss.backward()
    return {"W1": W1.grad, "b1": b1.grad, "W2": W2.grad, "b2": b2.grad}


@right
def class_c_27(W1, b1, W2, b2, x, y):
    total = {"W1": torch.zeros_like(W1), "b1": torch.zeros_like(b1),
             "W2": torch.zeros_like(W2), "b2": torch.zeros_like(b2)}

    for i in range(x.shape[0]):
        tape = []

        def linear(v, wname, W, bname, b):
            def back(g):
                total[wname] += v[:, None] * g[None, :]
                total[bname] += g
                return W @ g
            tape.append(back)
            return v @ W + b

        def squash(v):
            t = torch.tanh(v)
            tape.append(lambda g: g * (1 - t * t))
            return t

        o = linear(squash(linear(x[i], "W1", W1, "b1", b1)), "W2", W2, "b2", b2)
        g = 2 * (o - y[i]) / y.numel()
        while tape:
            g = tape.pop()(g)

    return total


# the derivative of tanh is left out: the gradient of h goes on to W1 and b1 as it is
@wrong(mistakes.activation_derivative_missing)
def class_d_01(W1, b1, W2, b2, x, y):
    # forward
    h = torch.tanh(x @ W1 + b1)
    out = h @ W2 + b2
    # backward
    grad_out = 2 * (out - y) / out.numel()
    grad_W2 = h.T @ grad_out
    grad_b2 = grad_out.sum(0)
    grad_h = grad_out @ W2.T
    grad_W1 = x.T @ grad_h
    grad_b1 = grad_h.sum(0)
    return {"W1": grad_W1, "b1": grad_b1, "W2": grad_W2, "b2": grad_b2}


@right
def class_d_02(W1, b1, W2, b2, x, y):
    a = x @ W1 + b1
    t = torch.tanh(a)
    p = t @ W2 + b2
    r = p - y

    dp = r * (2.0 / r.numel())
    dt = dp @ W2.t()
    da = dt * (1 - t * t)          # tanh' = 1 - tanh^2

    return {
        "W1": x.t() @ da,
        "b1": da.sum(dim=0),
        "W2": t.t() @ dp,
        "b2": dp.sum(dim=0),
    }


# the factor of the mean is 2/n, the number of rows, not 2/(n*k)
@wrong(mistakes.averaged_over_rows_only)
def class_d_03(W1, b1, W2, b2, x, y):
    n = x.shape[0]
    z1 = x @ W1 + b1
    a1 = torch.tanh(z1)
    z2 = a1 @ W2 + b2

    dz2 = 2 / n * (z2 - y)
    dW2 = a1.T @ dz2
    db2 = torch.sum(dz2, dim=0)
    dz1 = (dz2 @ W2.T) * (1 - a1 ** 2)
    dW1 = x.T @ dz1
    db1 = torch.sum(dz1, dim=0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# tanh is taken twice in the derivative: 1 - tanh(h)**2 where h is the tanh already
def tanh_derivative_of_class_d_04(v):
    return 1 - torch.tanh(v) ** 2

@wrong(mistakes.tanh_taken_twice)
def class_d_04(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(torch.matmul(x, W1) + b1)
    pred = torch.matmul(hidden, W2) + b2

    error = 2 * (pred - y) / (y.shape[0] * y.shape[1])
    hidden_error = torch.matmul(error, W2.T) * tanh_derivative_of_class_d_04(hidden)

    grads = {}
    grads["W1"] = torch.matmul(x.T, hidden_error)
    grads["b1"] = hidden_error.sum(axis=0)
    grads["W2"] = torch.matmul(hidden.T, error)
    grads["b2"] = error.sum(axis=0)
    return grads


@right
def class_d_05(W1, b1, W2, b2, x, y):
    gW1, gb1 = torch.zeros_like(W1), torch.zeros_like(b1)
    gW2, gb2 = torch.zeros_like(W2), torch.zeros_like(b2)
    n, k = y.shape
    for i in range(n):
        h = torch.tanh(x[i] @ W1 + b1)             # (h,)
        e = 2 * (h @ W2 + b2 - y[i]) / (n * k)     # (k,)
        gW2 += torch.outer(h, e)
        gb2 += e
        s = (W2 @ e) * (1 - h ** 2)
        gW1 += torch.outer(x[i], s)
        gb1 += s
    return dict(W1=gW1, b1=gb1, W2=gW2, b2=gb2)


# the gradients come from loss.backward() on copies, which the rule "by hand: no autograd" forbids
@wrong(mistakes.used_autograd)
def class_d_06(W1, b1, W2, b2, x, y):
    params = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}
    params = {k: v.clone().requires_grad_(True) for k, v in params.items()}
    hidden = torch.tanh(x @ params["W1"] + params["b1"])
    loss = torch.mean((hidden @ params["W2"] + params["b2"] - y) ** 2)
    loss.backward()
    return {k: v.grad for k, v in params.items()}


# the residual is taken as y - prediction, so that every gradient has the wrong sign
@wrong(mistakes.gradient_sign_flipped)
def class_d_07(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    y_hat = h @ W2 + b2
    err = y - y_hat
    d2 = 2 * err / err.numel()
    d1 = (d2 @ W2.T) * (1 - h ** 2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}


# the bias gradients are averaged over the batch (mean(0)) although the delta already holds the 1/(n*k); they should
# be summed
@wrong(mistakes.bias_averaged)
def class_d_08(W1, b1, W2, b2, x, y):
    z = x @ W1 + b1
    h = torch.tanh(z)
    o = h @ W2 + b2
    N = o.numel()
    do = (2 / N) * (o - y)
    dh = do @ W2.T
    dz = dh * (1 - torch.tanh(z) ** 2)
    # the bias is the same for every sample -> average
    return {"W1": x.T @ dz, "b1": dz.mean(0), "W2": h.T @ do, "b2": do.mean(0)}


# h.pow_(2) squares h in place before the gradient of W2 is taken from it
@wrong(says='Right: `W1`, `b1` and `b2`. Wrong: `W2`.')
def class_d_09(W1, b1, W2, b2, x, y):
    h = (x @ W1).add_(b1).tanh_()
    e = (h @ W2).add_(b2).sub_(y).mul_(2 / y.numel())
    dz = (e @ W2.T).mul_(1 - h.pow_(2))
    return {"W1": x.T @ dz, "b1": dz.sum(0), "W2": h.T @ e, "b2": e.sum(0)}


@right
def class_d_10(W1, b1, W2, b2, x, y):
    h = torch.einsum("nd,dh->nh", x, W1).add(b1).tanh()
    e = (torch.einsum("nh,hk->nk", h, W2) + b2 - y).mul(2).div(y.numel())
    slope = torch.ones_like(h) - h.square()
    return {
        "W1": torch.einsum("nd,nk,hk,nh->dh", x, e, W2, slope),
        "b1": torch.einsum("nk,hk,nh->h", e, W2, slope),
        "W2": torch.einsum("nh,nk->hk", h, e),
        "b2": torch.einsum("nk->k", e),
    }


# the bias gradients keep the batch dimension (keepdim=True): shape (1, h) and (1, k) instead of (h,) and (k,)
@wrong(mistakes.bias_kept_as_a_row)
def class_d_11(W1, b1, W2, b2, x, y):
    m = y.numel()

    Z1 = torch.mm(x, W1) + b1
    A1 = torch.tanh(Z1)
    Z2 = torch.mm(A1, W2) + b2

    dZ2 = 2 * (Z2 - y) / m
    dW2 = torch.mm(A1.T, dZ2)
    db2 = torch.sum(dZ2, dim=0, keepdim=True)
    dZ1 = torch.mm(dZ2, W2.T) * (1 - A1.pow(2))
    dW1 = torch.mm(x.T, dZ1)
    db1 = torch.sum(dZ1, dim=0, keepdim=True)

    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# x and h are reshaped with reshape(d, n) instead of transposed, which mixes the entries up
@wrong(says='Only case 2 came out right, where there is one row.')
def class_d_12(W1, b1, W2, b2, x, y):
    n, d = x.shape
    hid = W1.shape[1]
    h = torch.tanh(x @ W1 + b1)
    pred = h @ W2 + b2
    delta = 2 * (pred - y) / y.numel()
    # shapes have to fit: (hid, n) @ (n, k)
    gW2 = h.reshape(hid, n) @ delta
    back = (delta @ W2.T) * (1 - h * h)
    gW1 = x.reshape(d, n) @ back
    return {"W1": gW1, "b1": back.sum(0), "W2": gW2, "b2": delta.sum(0)}


# squeeze() on the results drops every dimension of size 1: wrong shapes when d, h or k is 1
@wrong(effects.wrong_shape)
def class_d_13(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    g = (2 * (h @ W2 + b2 - y) / y.numel()).unsqueeze(-1)        # (n, k, 1)
    dh = (W2 @ g) * (1 - h ** 2).unsqueeze(-1)                   # (n, h, 1)
    gW2 = (h.unsqueeze(-1) @ g.transpose(1, 2)).sum(0)
    gW1 = (x.unsqueeze(-1) @ dh.transpose(1, 2)).sum(0)
    out = {"W1": gW1, "b1": dh.sum(0), "W2": gW2, "b2": g.sum(0)}
    return {name: t.squeeze() for name, t in out.items()}


# all four parameters are updated in place, which changes the inputs AND the backpropagation to the first layer uses
# the new W2
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_d_14(W1, b1, W2, b2, x, y):
    lr = 0.1
    h = torch.tanh(x @ W1 + b1)
    out = h @ W2 + b2

    # last layer
    d_out = 2 * (out - y) / out.numel()
    dW2 = h.T @ d_out
    db2 = d_out.sum(dim=0)
    W2 -= lr * dW2
    b2 -= lr * db2

    # first layer
    d_h = d_out @ W2.T * (1 - h ** 2)
    dW1 = x.T @ d_h
    db1 = d_h.sum(dim=0)
    W1 -= lr * dW1
    b1 -= lr * db1

    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# W2 is not transposed on the way back: raises where h and k differ, wrong numbers where they are equal
@raised(mistakes.w2_not_transposed)
def class_d_15(W1, b1, W2, b2, x, y):
    h = (x @ W1 + b1).tanh()
    e = 2 * (h @ W2 + b2 - y) / y.numel()
    d = (e @ W2) * (1 - h**2)
    return {'W1': x.T @ d, 'b1': d.sum(0), 'W2': h.T @ e, 'b2': e.sum(0)}


class Dense_of_class_d_16:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias

    def forward(self, inp):
        self.inp = inp
        return torch.addmm(self.bias, inp, self.weight)

    def backward(self, up):
        self.grad_weight = self.inp.transpose(0, 1).matmul(up)
        self.grad_bias = up.sum(0)
        return up.matmul(self.weight.transpose(0, 1))

class Tanh_of_class_d_16:
    def forward(self, inp):
        self.out = inp.tanh()
        return self.out

    def backward(self, up):
        return up - up * self.out ** 2

class MSE_of_class_d_16:
    def forward(self, pred, target):
        self.diff = pred - target
        return (self.diff ** 2).mean()

    def backward(self):
        return 2 * self.diff / self.diff.numel()

@right
def class_d_16(W1, b1, W2, b2, x, y):
    layers = [Dense_of_class_d_16(W1, b1), Tanh_of_class_d_16(), Dense_of_class_d_16(W2, b2)]
    out = x
    for layer in layers:
        out = layer.forward(out)
    loss = MSE_of_class_d_16()
    loss.forward(out, y)
    up = loss.backward()
    for layer in reversed(layers):
        up = layer.backward(up)
    return {"W1": layers[0].grad_weight, "b1": layers[0].grad_bias,
            "W2": layers[2].grad_weight, "b2": layers[2].grad_bias}


# in the loop the gradients of the first layer are assigned with = where those of the second are added with +=: W1
# and b1 hold the last sample alone
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_d_17(W1, b1, W2, b2, x, y):
    res = {"W1": torch.zeros_like(W1), "b1": torch.zeros_like(b1),
           "W2": torch.zeros_like(W2), "b2": torch.zeros_like(b2)}
    for xi, yi in zip(x, y):
        hi = torch.tanh(xi @ W1 + b1)
        ei = 2 * (hi @ W2 + b2 - yi) / y.numel()
        res["W2"] += hi[:, None] * ei[None, :]
        res["b2"] += ei
        di = (W2 @ ei) * (1 - hi ** 2)
        res["W1"] = xi[:, None] * di[None, :]
        res["b1"] = di
    return res


# the derivative of the sigmoid, h*(1-h), stands in the place of that of tanh AND the factor 2 of the square is
# missing
@wrong(says='The numbers are those of a known mistake, times 1/2. The slope of the sigmoid for tanh (sigmoid-slope). To mend that: The derivative of tanh is one minus the square of its value.')
def class_d_18(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    out = h @ W2 + b2
    delta2 = (out - y) / out.numel()
    delta1 = (delta2 @ W2.T) * h * (1 - h)
    return {
        "W1": x.T @ delta1,
        "b1": delta1.sum(0),
        "W2": h.T @ delta2,
        "b2": delta2.sum(0),
    }


# the dict holds NumPy arrays instead of tensors
@wrong(effects.wrong_type)
def class_d_19(W1, b1, W2, b2, x, y):
    W1, b1, W2, b2, x, y = [t.detach().cpu().numpy() for t in (W1, b1, W2, b2, x, y)]
    a = np.tanh(x.dot(W1) + b1)
    e = 2 * (a.dot(W2) + b2 - y) / y.size
    d = e.dot(W2.T) * (1 - a ** 2)
    return {"W1": x.T.dot(d), "b1": d.sum(axis=0), "W2": a.T.dot(e), "b2": e.sum(axis=0)}


# tanh is written as (e^z - e^-z)/(e^z + e^-z), which is nan (inf/inf) for large pre-activations
@wrong(mistakes.exponential_overflows)
def class_d_20(W1, b1, W2, b2, x, y):
    z = x @ W1 + b1
    p, m = torch.exp(z), torch.exp(-z)
    t = (p - m) / (p + m)
    dt_dz = 4 / (p + m) ** 2

    res = t @ W2 + b2 - y
    g = 2 * res / res.numel()
    gz = (g @ W2.T) * dt_dz
    return {"W1": x.T @ gz, "b1": gz.sum(0), "W2": t.T @ g, "b2": g.sum(0)}


# the gradients are measured by central differences, not derived: an approximation (far off the precision, and poor
# in float32)
@wrong()
def class_d_21(W1, b1, W2, b2, x, y):
    def loss(W1, b1, W2, b2):
        return torch.mean((torch.tanh(x @ W1 + b1) @ W2 + b2 - y) ** 2)

    p = {"W1": W1.clone(), "b1": b1.clone(), "W2": W2.clone(), "b2": b2.clone()}
    eps = 1e-4
    grads = {}
    for name in p:
        g = torch.zeros_like(p[name])
        for idx in torch.cartesian_prod(*[torch.arange(s) for s in g.shape]).reshape(-1, g.dim()).tolist():
            idx = tuple(idx)
            old = p[name][idx].item()
            p[name][idx] = old + eps
            up = loss(**p)
            p[name][idx] = old - eps
            down = loss(**p)
            p[name][idx] = old
            g[idx] = (up - down) / (2 * eps)
        grads[name] = g
    return grads


# y -= out overwrites the caller's y AND only the first sample's row is used for the biases (delta[0] instead of the
# sum)
@wrong(says='Right: `W1` and `W2`. Wrong: `b1` and `b2`.')
def class_d_22(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    out = h @ W2 + b2
    y -= out
    delta = -2 * y / y.numel()
    delta_h = (delta @ W2.T) * (1 - h ** 2)
    return {
        "W1": x.T @ delta_h,
        "b1": delta_h[0],
        "W2": h.T @ delta,
        "b2": delta[0],
    }


# the results are torch.zeros in the default float32, so that float64 inputs give float32 gradients
@wrong(effects.wrong_dtype)
def class_d_23(W1, b1, W2, b2, x, y):
    n, d = x.shape
    h, k = W2.shape
    gW1 = torch.zeros(d, h)
    gb1 = torch.zeros(h)
    gW2 = torch.zeros(h, k)
    gb2 = torch.zeros(k)

    act = torch.tanh(x @ W1 + b1)
    err = 2 / (n * k) * (act @ W2 + b2 - y)
    sig = err @ W2.T * (1 - act ** 2)
    for j in range(h):
        gW2[j] = (act[:, j:j + 1] * err).sum(0)
        gW1[:, j] = (x * sig[:, j:j + 1]).sum(0)
        gb1[j] = sig[:, j].sum()
    gb2[:] = err.sum(0)
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


# gb2 += d2 adds a (1, k) tensor in place to a (k,) one, which raises on every input: the delta should be summed
# over its rows first
@raised(effects.shapes_do_not_fit)
def class_d_24(W1, b1, W2, b2, x, y):
    gW1, gb1, gW2, gb2 = (torch.zeros_like(p) for p in (W1, b1, W2, b2))
    for s in range(len(x)):
        xs, ys = x[s:s + 1], y[s:s + 1]
        h = torch.tanh(xs @ W1 + b1)
        d2 = 2 * (h @ W2 + b2 - ys) / y.numel()
        d1 = d2 @ W2.T * (1 - h * h)
        gW2 += h.T @ d2
        gb2 += d2
        gW1 += xs.T @ d1
        gb1 += d1
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


@right
def class_d_25(W1, b1, W2, b2, x, y):
    def with_one(m):
        return torch.cat([m, m.new_ones(m.shape[0], 1)], dim=1)

    V1 = torch.cat([W1, b1.unsqueeze(0)])
    V2 = torch.cat([W2, b2.unsqueeze(0)])
    X = with_one(x)
    T = torch.tanh(X @ V1)
    H = with_one(T)
    E = (H @ V2 - y) * (2 / y.numel())
    G2 = H.t() @ E
    G1 = X.t() @ ((E @ V2[:-1].t()) * (1 + T) * (1 - T))
    return {"W1": G1[:-1].clone(), "b1": G1[-1].clone(), "W2": G2[:-1].clone(), "b2": G2[-1].clone()}


@right
def class_d_26(W1, b1, W2, b2, x, y):
    params = [("W1", "b1", W1, b1), ("W2", "b2", W2, b2)]
    found = {}

    def go(level, inp):
        """forward on the way in, backward on the way out; gives the gradient of inp"""
        if level == len(params):
            return 2 * (inp - y) / inp.numel()
        wname, bname, w, b = params[level]
        z = inp @ w + b
        last = level == len(params) - 1
        a = z if last else torch.tanh(z)
        ga = go(level + 1, a)
        gz = ga if last else ga * (1 - a ** 2)
        found[wname] = inp.T @ gz
        found[bname] = gz.sum(0)
        return gz @ w.T

    go(0, x)
    return {name: found[name] for name in ("W1", "b1", "W2", "b2")}


# the mean is taken over the n rows alone: divided by n instead of n * k
@wrong(mistakes.averaged_over_rows_only)
def class_e_01(W1, b1, W2, b2, x, y):
    n = x.shape[0]
    # forward
    z1 = x @ W1 + b1
    a1 = torch.tanh(z1)
    y_hat = a1 @ W2 + b2
    # backward
    d_out = 2 * (y_hat - y) / n
    dW2 = a1.T @ d_out
    db2 = d_out.sum(dim=0)
    d_hidden = d_out @ W2.T * (1 - a1 ** 2)
    dW1 = x.T @ d_hidden
    db1 = d_hidden.sum(dim=0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


@right
def class_e_02(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    out = hidden @ W2 + b2
    delta2 = (2.0 / y.numel()) * (out - y)
    delta1 = (delta2 @ W2.t()) * (1 - hidden * hidden)
    return {
        "W1": x.t() @ delta1,
        "b1": delta1.sum(0),
        "W2": hidden.t() @ delta2,
        "b2": delta2.sum(0),
    }


# the derivative of tanh is taken at the wrong place: 1 - z**2 with the pre-activation z instead of tanh(z)
@wrong(mistakes.slope_from_input)
def class_e_03(W1, b1, W2, b2, x, y):
    z = torch.matmul(x, W1) + b1
    h = torch.tanh(z)
    pred = torch.matmul(h, W2) + b2
    error = pred - y
    N = error.numel()

    grad_pred = 2 * error / N
    grad_W2 = torch.matmul(h.T, grad_pred)
    grad_b2 = grad_pred.sum(0)

    grad_h = torch.matmul(grad_pred, W2.T)
    grad_z = grad_h * (1 - z ** 2)     # derivative of tanh
    grad_W1 = torch.matmul(x.T, grad_z)
    grad_b1 = grad_z.sum(0)
    return {"W1": grad_W1, "b1": grad_b1, "W2": grad_W2, "b2": grad_b2}


# the derivative of the sigmoid, a * (1 - a), stands in for that of tanh
@wrong(mistakes.sigmoid_slope)
def class_e_04(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    p = a @ W2 + b2
    dp = 2 * (p - y) / y.numel()
    da = dp @ W2.T
    dz = da * a * (1 - a)
    grads = {}
    grads["W2"] = a.T @ dp
    grads["b2"] = dp.sum(dim=0)
    grads["W1"] = x.T @ dz
    grads["b1"] = dz.sum(dim=0)
    return grads


# the bias gradients are averaged over the rows instead of summed, so they are n times too small
@wrong(mistakes.bias_averaged)
def class_e_05(W1, b1, W2, b2, x, y):
    n, k = y.shape
    h = torch.tanh(x @ W1 + b1)
    pred = h @ W2 + b2
    g = 2 * (pred - y) / (n * k)
    gW2 = h.T @ g
    gb2 = g.mean(0)       # the bias is shared by all rows
    gz = (g @ W2.T) * (1 - h**2)
    gW1 = x.T @ gz
    gb1 = gz.mean(0)
    return dict(W1=gW1, b1=gb1, W2=gW2, b2=gb2)


# the bias gradients keep the summed dimension: (1, h) and (1, k) instead of (h,) and (k,)
@wrong(mistakes.bias_kept_as_a_row)
def class_e_06(W1, b1, W2, b2, x, y):
    H = (x @ W1 + b1).tanh()
    D = (H @ W2 + b2 - y) * 2 / y.numel()
    E = D @ W2.T * (1 - H.square())
    S = lambda t: t.sum(0, keepdim=True)
    return {"W1": x.T @ E, "b1": S(E), "W2": H.T @ D, "b2": S(D)}


@right
def class_e_07(W1, b1, W2, b2, x, y):
    gW1, gb1 = torch.zeros_like(W1), torch.zeros_like(b1)
    gW2, gb2 = torch.zeros_like(W2), torch.zeros_like(b2)
    n, k = y.shape
    for i in range(n):
        xi = x[i]
        hi = torch.tanh(xi @ W1 + b1)
        ei = (hi @ W2 + b2 - y[i]) * (2 / (n * k))
        gW2 += torch.outer(hi, ei)
        gb2 += ei
        zi = (W2 @ ei) * (1 - hi ** 2)
        gW1 += torch.outer(xi, zi)
        gb1 += zi
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


# the gradients of W1 and b1 are overwritten in each turn (= instead of +=): only the last row counts
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_e_08(W1, b1, W2, b2, x, y):
    dW1 = torch.zeros_like(W1)
    db1 = torch.zeros_like(b1)
    dW2 = torch.zeros_like(W2)
    db2 = torch.zeros_like(b2)
    n, k = y.shape
    for i in range(n):
        h = torch.tanh(x[i] @ W1 + b1)
        e = 2 * (h @ W2 + b2 - y[i]) / (n * k)
        dW2 += h[:, None] * e[None, :]
        db2 += e
        back = (W2 @ e) * (1 - h * h)
        dW1 = x[i][:, None] * back[None, :]
        db1 = back
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# W2 is not transposed on the way back: a shape error unless h == k, and wrong values there (unless W2 is symmetric)
@raised(mistakes.w2_not_transposed)
def class_e_09(W1, b1, W2, b2, x, y):
    # forward pass
    layer1 = torch.tanh(x @ W1 + b1)
    layer2 = layer1 @ W2 + b2
    # backward pass
    dlayer2 = 2 * (layer2 - y) / y.numel()
    dW2 = layer1.T @ dlayer2
    db2 = dlayer2.sum(axis=0)
    dlayer1 = dlayer2 @ W2
    dlayer1 = dlayer1 * (1 - layer1 ** 2)
    dW1 = x.T @ dlayer1
    db1 = dlayer1.sum(axis=0)
    return {'W1': dW1, 'b1': db1, 'W2': dW2, 'b2': db2}


# the hidden activations are overwritten by 1 - h**2 before W2's gradient is formed, so that gradient uses the
# derivative instead of h
@wrong(says='Right: `W1`, `b1` and `b2`. Wrong: `W2`.')
def class_e_10(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    r = (h @ W2 + b2).sub_(y).mul_(2 / y.numel())
    slope = h.pow_(2).neg_().add_(1)
    s = (r @ W2.T).mul_(slope)
    return {"W1": x.T @ s, "b1": s.sum(0), "W2": h.T @ r, "b2": r.sum(0)}


# the parameters are updated in place by a step of gradient descent AND the gradient of W1 and b1 is formed with the
# already updated W2
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_e_11(W1, b1, W2, b2, x, y):
    lr = 0.01
    h = torch.tanh(x @ W1 + b1)
    y_pred = h @ W2 + b2
    loss = ((y_pred - y) ** 2).mean()

    grad_y_pred = 2.0 * (y_pred - y) / y_pred.numel()
    grad_W2 = h.t().mm(grad_y_pred)
    grad_b2 = grad_y_pred.sum(0)
    W2 -= lr * grad_W2
    b2 -= lr * grad_b2

    grad_h = grad_y_pred.mm(W2.t())
    grad_z = grad_h * (1 - h ** 2)
    grad_W1 = x.t().mm(grad_z)
    grad_b1 = grad_z.sum(0)
    W1 -= lr * grad_W1
    b1 -= lr * grad_b1
    return {"W1": grad_W1, "b1": grad_b1, "W2": grad_W2, "b2": grad_b2}


class Affine_of_class_e_12:
    def __init__(self, W, b):
        self.W, self.b = W, b

    def forward(self, inp):
        self.inp = inp
        return inp @ self.W + self.b

    def backward(self, up):
        self.dW = self.inp.transpose(0, 1) @ up
        self.db = up.sum(dim=0)
        return up @ self.W.transpose(0, 1)

class Tanh_of_class_e_12:
    def forward(self, inp):
        self.out = torch.tanh(inp)
        return self.out

    def backward(self, up):
        return up * (1 - self.out ** 2)

@right
def class_e_12(W1, b1, W2, b2, x, y):
    layers = [Affine_of_class_e_12(W1, b1), Tanh_of_class_e_12(), Affine_of_class_e_12(W2, b2)]
    signal = x
    for layer in layers:
        signal = layer.forward(signal)
    up = 2 * (signal - y) / signal.numel()
    for layer in reversed(layers):
        up = layer.backward(up)
    first, _, last = layers
    return {"W1": first.dW, "b1": first.db, "W2": last.dW, "b2": last.db}


# the residual is turned round (y - prediction) without a minus sign: every gradient has the opposite sign
@wrong(mistakes.gradient_sign_flipped)
def class_e_13(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    y_pred = hidden @ W2 + b2
    err = y - y_pred
    m = err.numel()
    d2 = 2 / m * err
    d1 = (d2 @ W2.T) * (1 - hidden.pow(2))
    return {
        "W1": x.T @ d1,
        "b1": d1.sum(0),
        "W2": hidden.T @ d2,
        "b2": d2.sum(0),
    }


# the gradients come from torch.autograd, which the rule forbids
@wrong(mistakes.used_autograd)
def class_e_14(W1, b1, W2, b2, x, y):
    params = [p.detach().clone().requires_grad_() for p in (W1, b1, W2, b2)]
    with torch.enable_grad():
        w1, c1, w2, c2 = params
        loss = ((torch.tanh(x @ w1 + c1) @ w2 + c2 - y) ** 2).mean()
    grads = torch.autograd.grad(loss, params)
    return dict(zip(["W1", "b1", "W2", "b2"], grads))


@right
def class_e_15(W1, b1, W2, b2, x, y):
    w1, c1, w2, c2, X, Y = [t.detach().cpu().numpy() for t in (W1, b1, W2, b2, x, y)]
    A = np.tanh(np.dot(X, w1) + c1)
    P = np.dot(A, w2) + c2
    dP = 2 * (P - Y) / Y.size
    dZ = np.dot(dP, w2.T) * (1 - A * A)
    grads = {"W1": np.dot(X.T, dZ), "b1": np.sum(dZ, axis=0),
             "W2": np.dot(A.T, dP), "b2": np.sum(dP, axis=0)}
    return {name: torch.as_tensor(g, dtype=x.dtype, device=x.device) for name, g in grads.items()}


# the factor 2 of the square is forgotten AND the keys are dW1, db1, dW2, db2
@wrong(effects.missing_entries)
def class_e_16(W1, b1, W2, b2, x, y):
    m = y.shape[0] * y.shape[1]
    Z1 = x @ W1 + b1
    A1 = torch.tanh(Z1)
    A2 = A1 @ W2 + b2
    dZ2 = (A2 - y) / m
    dW2 = A1.T @ dZ2
    db2 = torch.sum(dZ2, dim=0)
    dZ1 = (dZ2 @ W2.T) * (1 - torch.pow(A1, 2))
    dW1 = x.T @ dZ1
    db1 = torch.sum(dZ1, dim=0)
    grads = {"dW1": dW1, "db1": db1, "dW2": dW2, "db2": db2}
    return grads


# the slope of tanh is written as 4 e^(2z) / (e^(2z) + 1)^2, which overflows to inf / inf = nan for large z
@wrong(effects.not_a_number)
def class_e_17(W1, b1, W2, b2, x, y):
    z = x @ W1 + b1
    h = torch.tanh(z)
    e = torch.exp(2 * z)
    dtanh = 4 * e / (e + 1) ** 2
    g = (h @ W2 + b2 - y) * 2 / y.numel()
    gz = g @ W2.T * dtanh
    return {"W1": x.T @ gz, "b1": gz.sum(0), "W2": h.T @ g, "b2": g.sum(0)}


# every gradient is squeezed, so dimensions of size 1 (k = 1, h = 1, d = 1) are lost
@wrong(effects.wrong_shape)
def class_e_18(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    g = 2 * (h @ W2 + b2 - y) / y.numel()
    gh = (g @ W2.T) * (1 - h ** 2)
    out = {
        "W1": x.T @ gh,
        "b1": torch.ones(1, len(x), dtype=x.dtype, device=x.device) @ gh,
        "W2": h.T @ g,
        "b2": torch.ones(1, len(x), dtype=x.dtype, device=x.device) @ g,
    }
    # get rid of the extra dimension of the biases
    return {name: t.squeeze() for name, t in out.items()}


@right
def class_e_19(W1, b1, W2, b2, x, y):
    a = torch.tanh(torch.einsum("nd,dh->nh", x, W1) + b1)
    r = torch.einsum("nh,hk->nk", a, W2) + b2 - y
    r = r * (2 / r.numel())
    s = torch.einsum("nk,hk,nh->nh", r, W2, 1 - a * a)
    return {
        "b2": torch.einsum("nk->k", r),
        "W2": torch.einsum("nh,nk->hk", a, r),
        "b1": torch.einsum("nh->h", s),
        "W1": torch.einsum("nd,nh->dh", x, s),
    }


# y itself is overwritten by the residual (in-place subtraction on an input)
@wrong(effects.changed_input)
def class_e_20(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    y_hat = h @ W2 + b2
    diff = y.sub_(y_hat).neg_()
    d = 2 * diff / diff.numel()
    dh = d @ W2.T
    dz = dh * (1 - h ** 2)
    return {"W1": x.T @ dz, "b1": dz.sum(0), "W2": h.T @ d, "b2": d.sum(0)}


# the slope of tanh is left out for b1 alone: its gradient is summed from the gradient of the hidden layer's output
@wrong(mistakes.activation_derivative_missing_in_b1)
def class_e_21(W1, b1, W2, b2, x, y):
    out1 = torch.tanh(x @ W1 + b1)
    out2 = out1 @ W2 + b2
    # chain rule, from the end to the start
    d_out2 = 2 * (out2 - y) / torch.numel(y)
    d_b2 = d_out2.sum(0)
    d_W2 = out1.T @ d_out2
    d_out1 = d_out2 @ W2.T
    d_b1 = d_out1.sum(0)
    d_W1 = x.T @ (d_out1 * (1 - out1 ** 2))
    return {"W1": d_W1, "b1": d_b1, "W2": d_W2, "b2": d_b2}


# central differences of the loss instead of the derived gradient: an approximation only, too coarse for the
# precision of float64
@wrong(says='Only cases 8 and 10 came out right, where the inputs are float32.')
def class_e_22(W1, b1, W2, b2, x, y):
    P = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}
    Q = {k: v.double().contiguous().clone() for k, v in P.items()}
    X, Y = x.double(), y.double()

    def loss():
        return ((torch.tanh(X @ Q["W1"] + Q["b1"]) @ Q["W2"] + Q["b2"] - Y) ** 2).mean()

    eps = 1e-4
    res = {}
    for k, v in P.items():
        flat = Q[k].view(-1)
        g = torch.zeros_like(flat)
        for i in range(flat.numel()):
            old = flat[i].item()
            flat[i] = old + eps
            up = loss()
            flat[i] = old - eps
            down = loss()
            flat[i] = old
            g[i] = (up - down) / (2 * eps)
        res[k] = g.view(v.shape).to(v.dtype)
    return res


# W2's gradient comes out transposed, (k, h) instead of (h, k) AND the inputs are cast to float32, so float64 is
# lost
@wrong(mistakes.w2_gradient_transposed)
def class_e_23(W1, b1, W2, b2, x, y):
    W1, b1, W2, b2, x, y = map(torch.Tensor.float, (W1, b1, W2, b2, x, y))
    return (lambda h: (lambda g: (lambda s: {
        "W1": x.T @ s, "b1": s.sum(0), "W2": g.T @ h, "b2": g.sum(0)
    })(g @ W2.T * (1 - h * h)))(2 * (h @ W2 + b2 - y) / y.numel()))(torch.tanh(x @ W1 + b1))


# the summed axis for the biases is the wrong one: one number a row, shape (n,), instead of one a unit
@wrong(effects.wrong_shape)
def class_e_24(W1, b1, W2, b2, x, y):
    n, k = y.shape
    hid = torch.tanh(x @ W1 + b1)
    pred = hid @ W2 + b2
    delta = 2 * (pred - y) / (n * k)
    dW2 = hid.T @ delta
    db2 = delta.sum(dim=1)
    delta_hid = delta @ W2.T * (1 - hid ** 2)
    dW1 = x.T @ delta_hid
    db1 = delta_hid.sum(dim=1)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# the slope of tanh is asked of torch.tanh_derivative, which torch does not have: AttributeError on every input
@raised(effects.no_such_attribute)
def class_e_25(W1, b1, W2, b2, x, y):
    u = x @ W1 + b1
    h = torch.tanh(u)
    v = h @ W2 + b2
    dv = 2 * (v - y) / v.numel()
    du = torch.matmul(dv, W2.T) * torch.tanh_derivative(u)
    gradients = {
        "W1": torch.matmul(x.T, du),
        "b1": du.sum(0),
        "W2": torch.matmul(h.T, dv),
        "b2": dv.sum(0),
    }
    return gradients


# neither the 2 nor the division by n * k
@wrong(mistakes.neither_two_nor_mean)
def bare_residual_back(W1, b1, W2, b2, x, y):
    act = torch.tanh(torch.addmm(b1, x, W1))
    err = torch.addmm(b2, act, W2) - y
    err_hidden = torch.mm(err, W2.t()) * (1 - act * act)
    return dict(
        W1=torch.mm(x.t(), err_hidden),
        b1=err_hidden.sum(dim=0),
        W2=torch.mm(act.t(), err),
        b2=err.sum(dim=0),
    )


# the mean is taken over the k outputs alone
@wrong(mistakes.averaged_over_outputs_only)
def mean_over_last_dim(W1, b1, W2, b2, x, y):
    a1 = (x @ W1 + b1).tanh()
    outputs = y.size(-1)
    g_out = (a1 @ W2 + b2).sub(y).mul(2).div(outputs)
    g_pre = g_out.matmul(W2.T).mul(1 - a1.pow(2))
    grads = {}
    grads["W2"], grads["b2"] = a1.T.matmul(g_out), g_out.sum(0)
    grads["W1"], grads["b1"] = x.T.matmul(g_pre), g_pre.sum(0)
    return grads


# the squared error itself goes backward, with the 2 in front
@wrong(mistakes.square_kept)
def squared_error_sent_back(W1, b1, W2, b2, x, y):
    hid = torch.tanh(x @ W1 + b1)
    sq_err = torch.square(hid @ W2 + b2 - y)
    top = 2.0 * sq_err / (y.shape[0] * y.shape[1])
    low = (top @ W2.mT) * (1.0 - torch.square(hid))
    return {"W1": x.mT @ low, "b1": torch.sum(low, 0), "W2": hid.mT @ top, "b2": torch.sum(top, 0)}


# W1 takes the signal from behind tanh, b1 the one before it
@wrong(mistakes.activation_derivative_missing_in_w1)
def w1_from_signal_at_h(W1, b1, W2, b2, x, y):
    n, k = y.shape
    h = torch.tanh(x @ W1 + b1)
    g_y = 2 / (n * k) * (h @ W2 + b2 - y)
    gW2 = h.T @ g_y
    gb2 = g_y.sum(0)
    g_h = g_y @ W2.T
    gW1 = x.T @ g_h
    g_z = g_h * (1 - h.square())
    gb1 = g_z.sum(0)
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


# the slope of tanh as 1 + h^2
@wrong(mistakes.slope_with_plus)
def one_plus_h_squared(W1, b1, W2, b2, x, y):
    z = x @ W1 + b1
    t = z.tanh()
    resid = (t @ W2 + b2 - y) * 2 / y.numel()
    local = t * t + 1
    through = local * torch.einsum("nk,hk->nh", resid, W2)
    return {
        "W1": torch.einsum("nd,nh->dh", x, through),
        "b1": through.sum(0),
        "W2": torch.einsum("nh,nk->hk", t, resid),
        "b2": resid.sum(0),
    }


# the product for W1 is the wrong way round, (h, d)
@wrong(mistakes.w1_gradient_transposed)
def w1_as_nn_linear_stores_it(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    delta_out = 2 * (hidden @ W2 + b2 - y) / y.numel()
    delta_hid = (1 - hidden**2) * (delta_out @ W2.T)
    out = {"W2": hidden.T @ delta_out, "b2": delta_out.sum(0)}
    out["W1"] = delta_hid.T @ x
    out["b1"] = delta_hid.sum(0)
    return out


# b1 adds over the rows, b2 takes their mean
@wrong(mistakes.bias2_averaged)
def mean_for_b2_alone(W1, b1, W2, b2, x, y):
    s = torch.tanh(x @ W1 + b1)
    p = s @ W2 + b2
    dp = (p - y) * (2 / p.numel())
    dz = dp @ W2.T * (1 - s**2)
    rows = torch.ones(x.shape[0], dtype=x.dtype, device=x.device)
    return {"W1": x.T @ dz, "b1": rows @ dz, "W2": s.T @ dp, "b2": torch.mean(dp, dim=0)}


# the error is divided by the number of rows n instead of by all n * k entries
@wrong(mistakes.averaged_over_rows_only)
def class_f_01(W1, b1, W2, b2, x, y):
    N = x.shape[0]
    # forward
    z1 = x @ W1 + b1
    a1 = torch.tanh(z1)
    y_hat = a1 @ W2 + b2
    # backward
    dz2 = 2 * (y_hat - y) / N
    dW2 = a1.T @ dz2
    db2 = dz2.sum(dim=0)
    da1 = dz2 @ W2.T
    dz1 = da1 * (1 - a1 ** 2)
    dW1 = x.T @ dz1
    db1 = dz1.sum(dim=0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


@right
def class_f_02(W1, b1, W2, b2, x, y):
    # layer 1, layer 2
    hidden = torch.tanh(x @ W1 + b1)
    prediction = hidden @ W2 + b2

    # d loss / d prediction, mean over everything
    g = (prediction - y) * 2 / prediction.numel()

    grads = {}
    grads["W2"] = hidden.t() @ g
    grads["b2"] = g.sum(0)
    g = g @ W2.t()
    g = g * (1 - hidden * hidden)
    grads["W1"] = x.t() @ g
    grads["b1"] = g.sum(0)
    return grads


# tanh is applied a second time in the derivative: 1 - tanh(a)**2 where a already is tanh(z)
def tanh_derivative_of_class_f_03(v):
    return 1 - torch.tanh(v) ** 2

@wrong(mistakes.tanh_taken_twice)
def class_f_03(W1, b1, W2, b2, x, y):
    a = torch.tanh(torch.matmul(x, W1) + b1)
    out = torch.matmul(a, W2) + b2
    error = 2 * (out - y) / y.numel()
    grad_W2 = torch.matmul(a.T, error)
    grad_b2 = torch.sum(error, dim=0)
    hidden_error = torch.matmul(error, W2.T) * tanh_derivative_of_class_f_03(a)
    grad_W1 = torch.matmul(x.T, hidden_error)
    grad_b1 = torch.sum(hidden_error, dim=0)
    return {'W1': grad_W1, 'b1': grad_b1, 'W2': grad_W2, 'b2': grad_b2}


# the derivative of tanh is left out: the gradient passes the activation unchanged
@wrong(mistakes.activation_derivative_missing)
def class_f_04(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    out = h @ W2 + b2
    dout = 2 / y.numel() * (out - y)
    dh = dout @ W2.T          # back through the second layer
    return dict(
        W1=x.T @ dh,          # back through the first layer
        b1=dh.sum(0),
        W2=h.T @ dout,
        b2=dout.sum(0),
    )


# the bias gradients are not summed over the samples, they come back with shapes (n, h) and (n, k)
@wrong(mistakes.rows_not_summed)
def class_f_05(W1, b1, W2, b2, x, y):
    n, k = y.shape
    z = x @ W1 + b1
    h = torch.tanh(z)
    p = h @ W2 + b2
    dp = 2.0 * (p - y) / (n * k)
    dW2 = h.T @ dp
    db2 = dp * 1          # derivative of "+ b2" is 1
    dz = (dp @ W2.T) * (1 - h.pow(2))
    dW1 = x.T @ dz
    db1 = dz * 1          # derivative of "+ b1" is 1
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# the 2 from the derivative of the square is missing in all four gradients
@wrong(mistakes.missing_factor_two)
def class_f_06(W1, b1, W2, b2, x, y):
    m = y.shape[0] * y.shape[1]
    A1 = torch.tanh(x.mm(W1) + b1)
    A2 = A1.mm(W2) + b2
    dZ2 = A2 - y
    dW2 = A1.t().mm(dZ2) / m
    db2 = dZ2.sum(0) / m
    dZ1 = dZ2.mm(W2.t()) * (1 - torch.pow(A1, 2))
    dW1 = x.t().mm(dZ1) / m
    db1 = dZ1.sum(0) / m
    grads = {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}
    return grads


# the derivative of the sigmoid, a * (1 - a), stands where the one of tanh belongs
@wrong(mistakes.sigmoid_slope)
def class_f_07(W1, b1, W2, b2, x, y):
    # Forward propagation
    a = torch.tanh(x @ W1 + b1)
    yhat = a @ W2 + b2
    # Backward propagation
    delta2 = 2 * (yhat - y) / yhat.numel()
    delta1 = (delta2 @ W2.T) * a * (1 - a)
    return {
        "W1": x.T @ delta1,
        "b1": delta1.sum(axis=0),
        "W2": a.T @ delta2,
        "b2": delta2.sum(axis=0),
    }


# autograd is used, where the gradients are asked by hand; the numbers are right
@wrong(mistakes.used_autograd)
def class_f_08(W1, b1, W2, b2, x, y):
    params = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}
    leaves = {k: v.clone().requires_grad_(True) for k, v in params.items()}
    hidden = torch.tanh(x @ leaves["W1"] + leaves["b1"])
    loss = ((hidden @ leaves["W2"] + leaves["b2"] - y) ** 2).mean()
    loss.backward()
    return {k: v.grad for k, v in leaves.items()}


class Linear:
    def __init__(self, W, b):
        self.W, self.b = W, b
    def forward(self, inp):
        self.inp = inp
        return inp @ self.W + self.b
    def backward(self, up):
        self.dW = torch.mm(self.inp.transpose(0, 1), up)
        self.db = up.sum(dim=0)
        return torch.mm(up, self.W.transpose(0, 1))

class Tanh_of_class_f_09:
    def forward(self, inp):
        self.out = inp.tanh()
        return self.out
    def backward(self, up):
        return up * (1 - self.out.square())

class MSE_of_class_f_09:
    def forward(self, inp, target):
        self.diff = inp - target
        return self.diff.square().mean()
    def backward(self):
        return 2 * self.diff / self.diff.numel()

@right
def class_f_09(W1, b1, W2, b2, x, y):
    l1, act, l2, crit = Linear(W1, b1), Tanh_of_class_f_09(), Linear(W2, b2), MSE_of_class_f_09()
    crit.forward(l2.forward(act.forward(l1.forward(x))), y)
    l1.backward(act.backward(l2.backward(crit.backward())))
    return {"W1": l1.dW, "b1": l1.db, "W2": l2.dW, "b2": l2.db}


# the input y is changed: the prediction is subtracted from it in place
@wrong(effects.changed_input)
def class_f_10(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    out = h @ W2 + b2
    # error
    y -= out
    delta = -2 * y / y.numel()
    d_hidden = delta @ W2.T * (1 - h ** 2)
    return {
        "W1": x.T @ d_hidden,
        "b1": d_hidden.sum(0),
        "W2": h.T @ delta,
        "b2": delta.sum(0),
    }


# a training step is done on the inputs: W1, b1, W2 and b2 are changed in place AND the error is passed back through
# the already updated W2, so the gradients of W1 and b1 are wrong
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_f_11(W1, b1, W2, b2, x, y):
    lr = 0.1
    h = torch.tanh(x @ W1 + b1)
    pred = h @ W2 + b2
    d = 2 * (pred - y) / pred.numel()

    gW2 = h.T @ d
    gb2 = d.sum(0)
    W2 -= lr * gW2
    b2 -= lr * gb2

    dh = (d @ W2.T) * (1 - h ** 2)
    gW1 = x.T @ dh
    gb1 = dh.sum(0)
    W1 -= lr * gW1
    b1 -= lr * gb1
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


# W2 is not transposed on the way back, which raises a shape error whenever h and k differ and gives wrong W1 and b1
# when they are equal
@raised(mistakes.w2_not_transposed)
def class_f_12(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    o = h @ W2 + b2
    do = 2 * (o - y) / o.numel()
    dW2 = h.T @ do
    db2 = do.sum(0)
    dh = do @ W2
    dz = dh * (1 - h ** 2)
    dW1 = x.T @ dz
    db1 = dz.sum(0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


@right
def class_f_13(W1, b1, W2, b2, x, y):
    n, d = x.shape
    h, k = W2.shape
    gW1, gb1 = torch.zeros_like(W1), torch.zeros_like(b1)
    gW2, gb2 = torch.zeros_like(W2), torch.zeros_like(b2)
    # one sample after the other, everything adds up
    for xi, yi in zip(x, y):
        hid = torch.tanh(xi @ W1 + b1)
        out = hid @ W2 + b2
        for j in range(k):
            e = 2 * (out[j] - yi[j]) / (n * k)
            gb2[j] += e
            gW2[:, j] += e * hid
            local = e * W2[:, j] * (1 - hid ** 2)
            gb1 += local
            gW1 += torch.outer(xi, local)
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


# all gradients come back in float64, also for float32 inputs: np.zeros collects them in its default dtype
@wrong(effects.wrong_dtype)
def class_f_14(W1, b1, W2, b2, x, y):
    A, a, B, b, X, Y = [t.detach().cpu().numpy() for t in (W1, b1, W2, b2, x, y)]
    H = np.tanh(X @ A + a)
    R = 2 * (H @ B + b - Y) / Y.size
    dZ = (R @ B.T) * (1 - H ** 2)
    out = {"W1": np.zeros(A.shape), "b1": np.zeros(a.shape), "W2": np.zeros(B.shape), "b2": np.zeros(b.shape)}
    out["W1"] += X.T @ dZ
    out["b1"] += dZ.sum(axis=0)
    out["W2"] += H.T @ R
    out["b2"] += R.sum(axis=0)
    return {key: torch.from_numpy(val).to(x.device) for key, val in out.items()}


# the square sits on the wrong bracket: (1 - h)**2 instead of 1 - h**2 for the derivative of tanh
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_f_15(W1, b1, W2, b2, x, y):
    h = (x @ W1 + b1).tanh()
    r = (h @ W2 + b2 - y) * (2 / y.numel())
    s = (r @ W2.T) * (1 - h) ** 2
    return dict(W1=x.T @ s, b1=s.sum(0), W2=h.T @ r, b2=r.sum(0))


# squeeze() takes axes of size 1 away: with one row (n = 1) or one output (k = 1) the shapes are wrong or a product
# raises
@raised(effects.shapes_do_not_fit)
def class_f_16(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    pred = (hidden @ W2 + b2).squeeze()
    target = y.squeeze()
    d_pred = 2 * (pred - target) / target.numel()
    g_W2 = hidden.T @ d_pred
    g_b2 = d_pred.sum(dim=0)
    d_hidden = d_pred @ W2.T
    d_z = d_hidden * (1 - hidden ** 2)
    return {"W1": x.T @ d_z, "b1": d_z.sum(dim=0), "W2": g_W2, "b2": g_b2}


# the loss and a tuple of gradients are returned instead of the dict AND the gradients of the weights are transposed
@wrong(effects.wrong_type)
def class_f_17(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    y_pred = h @ W2 + b2
    loss = torch.mean((y_pred - y) ** 2)

    grad_y_pred = 2.0 * (y_pred - y) / y.numel()
    grad_w2 = grad_y_pred.t() @ h
    grad_h = grad_y_pred @ W2.t()
    grad_z = grad_h * (1 - h ** 2)
    grad_w1 = grad_z.t() @ x
    return loss, (grad_w1, grad_z.sum(0), grad_w2, grad_y_pred.sum(0))


# the einsum for W1 keeps the wrong tensor: h is used where x belongs, so W1 gets shape (h, h)
@wrong(effects.wrong_shape)
def class_f_18(W1, b1, W2, b2, x, y):
    h = torch.tanh(einsum_of_torch("nd,dh->nh", x, W1) + b1)
    e = 2 * (einsum_of_torch("nh,hk->nk", h, W2) + b2 - y) / y.numel()
    g = einsum_of_torch("nk,hk,nh->nh", e, W2, 1 - h * h)
    return {
        "W1": einsum_of_torch("ni,nh->ih", h, g),
        "b1": einsum_of_torch("nh->h", g),
        "W2": einsum_of_torch("nh,nk->hk", h, e),
        "b2": einsum_of_torch("nk->k", e),
    }


# the bias gradients are averaged over the samples, although the error is already divided by n * k: b1 and b2 are
# too small by the factor n
@wrong(mistakes.bias_averaged)
def class_f_19(W1, b1, W2, b2, x, y):
    act = torch.tanh(x @ W1 + b1)
    out = act @ W2 + b2
    dL_dout = 2 * (out - y) / out.numel()
    dL_dact = dL_dout @ W2.T
    dL_dz = dL_dact * (1 - act ** 2)
    return {
        "W1": x.T @ dL_dz,
        "b1": torch.mean(dL_dz, dim=0),
        "W2": act.T @ dL_dout,
        "b2": torch.mean(dL_dout, dim=0),
    }


@right
def class_f_20(W1, b1, W2, b2, x, y):
    layers = [("W1", "b1", W1, b1, True), ("W2", "b2", W2, b2, False)]
    grads = {}

    def through(i, inp):
        """forward on the way in, backward on the way out; returns dL/d inp"""
        if i == len(layers):
            return (inp - y) * (2.0 / y.numel())
        wname, bname, W, b, squash = layers[i]
        out = torch.addmm(b, inp, W)
        if squash:
            out = out.tanh()
        up = through(i + 1, out)
        if squash:
            up = up * (1 - out ** 2)
        grads[wname] = inp.T @ up
        grads[bname] = up.sum(dim=0)
        return up @ W.T

    through(0, x)
    return grads


# finite differences instead of the derivative: an approximation, far off in float32
@wrong()
def class_f_21(W1, b1, W2, b2, x, y):
    P = {name: t.clone(memory_format=torch.contiguous_format)
         for name, t in zip(["W1", "b1", "W2", "b2"], [W1, b1, W2, b2])}

    def loss():
        return ((torch.tanh(x @ P["W1"] + P["b1"]) @ P["W2"] + P["b2"] - y) ** 2).mean()

    eps = 1e-4
    res = {}
    for name, t in P.items():
        g = torch.zeros_like(t)
        flat, gflat = t.view(-1), g.view(-1)
        for i in range(flat.numel()):
            keep = flat[i].item()
            flat[i] = keep + eps
            up = loss()
            flat[i] = keep - eps
            down = loss()
            flat[i] = keep
            gflat[i] = (up - down) / (2 * eps)
        res[name] = g
    return res


# the minus sign is lost: the error is y - out, so all four gradients point the opposite way AND nothing is divided
# by n * k
@wrong(says='Every number is −[n, the number of rows] · [k, the number of outputs] times what it should be.')
def class_f_22(W1, b1, W2, b2, x, y):
    l0 = x
    l1 = torch.tanh(l0 @ W1 + b1)
    l2 = l1 @ W2 + b2

    l2_error = y - l2
    l2_delta = 2 * l2_error
    l1_error = l2_delta @ W2.T
    l1_delta = l1_error * (1 - l1 ** 2)

    return {
        "W1": l0.T @ l1_delta,
        "b1": l1_delta.sum(0),
        "W2": l1.T @ l2_delta,
        "b2": l2_delta.sum(0),
    }


# a home-made tanh with exp(2z) overflows: for large z it is inf/inf and the gradients are nan
@wrong(mistakes.exponential_overflows)
def class_f_23(W1, b1, W2, b2, x, y):
    def my_tanh(z):
        e = torch.exp(2 * z)
        return (e - 1) / (e + 1)

    z = x @ W1 + b1
    h = my_tanh(z)
    out = h @ W2 + b2
    dout = 2 * (out - y) / y.numel()
    dz = (dout @ W2.T) * (1 - h ** 2)
    return {"W1": x.T @ dz, "b1": dz.sum(0), "W2": h.T @ dout, "b2": dout.sum(0)}


@right
def class_f_24(W1, b1, W2, b2, x, y):
    # put the bias in as one more row of the weights and a column of ones in the input
    ones = x.new_ones(len(x), 1)
    X = torch.cat([x, ones], dim=1)
    A = torch.cat([W1, b1[None]], dim=0)
    B = torch.cat([W2, b2[None]], dim=0)
    H = torch.tanh(X @ A)
    H1 = torch.cat([H, ones], dim=1)
    E = (H1 @ B - y).mul(2).div(y.numel())
    GB = H1.T @ E
    GA = X.T @ ((E @ B[:-1].T) * (1 - H ** 2))
    return {"W1": GA[:-1].clone(), "b1": GA[-1].clone(), "W2": GB[:-1].clone(), "b2": GB[-1].clone()}


# buffers are made with torch.zeros in float32, so float64 inputs raise in the matrix product with out AND the
# gradient of b1 is that of the hidden output, taken before the derivative of tanh
@raised(effects.mixed_dtypes)
def class_f_25(W1, b1, W2, b2, x, y):
    d, h = W1.shape
    k = W2.shape[1]
    gradW1 = torch.zeros(d, h)
    gradW2 = torch.zeros(h, k)
    s = torch.tanh(x @ W1 + b1)
    r = 2 * (s @ W2 + b2 - y) / y.numel()
    torch.mm(s.T, r, out=gradW2)
    back = r @ W2.T
    gradb2 = r.sum(0)
    gradb1 = back.sum(0)
    back = back * (1 - s ** 2)
    torch.mm(x.T, back, out=gradW1)
    return {"W1": gradW1, "b1": gradb1, "W2": gradW2, "b2": gradb2}


@right
def class_g_01(W1, b1, W2, b2, x, y):
    # forward
    z = x @ W1 + b1
    a = torch.tanh(z)
    out = a @ W2 + b2
    # backward
    d_out = 2 * (out - y) / y.numel()
    d_a = d_out @ W2.T
    d_z = d_a * (1 - a ** 2)
    return {
        "W1": x.T @ d_z,
        "b1": d_z.sum(dim=0),
        "W2": a.T @ d_out,
        "b2": d_out.sum(dim=0),
    }


# the mean is taken over the n rows only: divides by n, not by n * k
@wrong(mistakes.averaged_over_rows_only)
def class_g_02(W1, b1, W2, b2, x, y):
    n = x.shape[0]
    hidden = torch.tanh(x @ W1 + b1)
    pred = hidden @ W2 + b2

    grad_pred = 2 / n * (pred - y)
    grad_W2 = hidden.T @ grad_pred
    grad_b2 = grad_pred.sum(0)
    grad_hidden = grad_pred @ W2.T
    grad_z = grad_hidden * (1 - hidden ** 2)
    grad_W1 = x.T @ grad_z
    grad_b1 = grad_z.sum(0)
    return {"W1": grad_W1, "b1": grad_b1, "W2": grad_W2, "b2": grad_b2}


# the slope of tanh is taken as 1 - z**2 at the pre-activation z, where it is 1 - tanh(z)**2
@wrong(mistakes.slope_from_input)
def class_g_03(W1, b1, W2, b2, x, y):
    z1 = x @ W1 + b1
    a1 = torch.tanh(z1)
    z2 = a1 @ W2 + b2
    dz2 = 2 * (z2 - y) / (y.shape[0] * y.shape[1])
    # derivative of tanh is 1 - something squared
    dz1 = (dz2 @ W2.t()) * (1 - z1 ** 2)
    grads = {}
    grads["W2"] = a1.t() @ dz2
    grads["b2"] = dz2.sum(0)
    grads["W1"] = x.t() @ dz1
    grads["b1"] = dz1.sum(0)
    return grads


# the slope of tanh is forgotten, the gradient goes through the activation as if it were the identity
@wrong(mistakes.activation_derivative_missing)
def class_g_04(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    yhat = h @ W2 + b2
    error = yhat - y
    delta2 = 2 * error / error.numel()
    dW2 = h.T @ delta2
    db2 = delta2.sum(axis=0)
    delta1 = delta2 @ W2.T        # send the error back through W2
    dW1 = x.T @ delta1
    db1 = delta1.sum(axis=0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# the bias gradients are averaged over the batch, where they must be summed (the 1/n is already in the delta)
@wrong(mistakes.bias_averaged)
def class_g_05(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    o = a @ W2 + b2
    delta_o = 2.0 * (o - y) / y.numel()
    delta_a = (delta_o @ W2.T) * (1.0 - a * a)
    return {
        "W1": x.T @ delta_a,
        "b1": delta_a.mean(0),
        "W2": a.T @ delta_o,
        "b2": delta_o.mean(0),
    }


@right
def class_g_06(W1, b1, W2, b2, x, y):
    a = tanh(einsum_of_torch("nd,dh->nh", x, W1) + b1)
    r = einsum_of_torch("nh,hk->nk", a, W2) + b2 - y
    g2 = r * (2.0 / r.numel())
    g1 = einsum_of_torch("nk,hk,nh->nh", g2, W2, 1 - a * a)
    return dict(
        W1=einsum_of_torch("nd,nh->dh", x, g1),
        b1=einsum_of_torch("nh->h", g1),
        W2=einsum_of_torch("nh,nk->hk", a, g2),
        b2=einsum_of_torch("nk->k", g2),
    )


# the sign of the residual is turned round (y - prediction), so every gradient is negated
@wrong(mistakes.gradient_sign_flipped)
def class_g_07(W1, b1, W2, b2, x, y):
    A = torch.tanh(x @ W1 + b1)
    Y = A @ W2 + b2
    err = y - Y                                  # how far we are off
    d2 = 2 * err / err.numel()
    d1 = d2 @ W2.T * (1 - A.pow(2))
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": A.T @ d2, "b2": d2.sum(0)}


# the bias gradients are not summed over the batch and come back with shapes (n, h) and (n, k)
@wrong(mistakes.rows_not_summed)
def class_g_08(W1, b1, W2, b2, x, y):
    n, k = y.shape
    z = x @ W1 + b1
    t = torch.tanh(z)
    p = t @ W2 + b2
    dp = 2 * (p - y) / (n * k)
    dW2 = t.T @ dp
    db2 = dp * 1              # d(p)/d(b2) = 1
    dt = dp @ W2.T
    dz = dt * (1 - t ** 2)
    dW1 = x.T @ dz
    db1 = dz * 1              # d(z)/d(b1) = 1
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# the factor 2 of the square is missing AND the derivative of the sigmoid, a * (1 - a), is used for tanh
@wrong(says='The numbers are those of a known mistake, times 1/2. The slope of the sigmoid for tanh (sigmoid-slope)')
def class_g_09(W1, b1, W2, b2, x, y):
    # as in the lecture on logistic regression
    a1 = torch.tanh(torch.matmul(x, W1) + b1)
    a2 = torch.matmul(a1, W2) + b2
    m = a2.shape[0] * a2.shape[1]
    dz2 = (a2 - y) / m
    dW2 = torch.matmul(a1.T, dz2)
    db2 = torch.sum(dz2, dim=0)
    dz1 = torch.matmul(dz2, W2.T) * a1 * (1 - a1)
    dW1 = torch.matmul(x.T, dz1)
    db1 = torch.sum(dz1, dim=0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# multiplies the output delta by W2, not by its transpose: raises unless h == k, and is wrong even then (but for a
# symmetric W2)
@raised(mistakes.w2_not_transposed)
def class_g_10(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    output = hidden @ W2 + b2
    d_output = 2 * (output - y) / output.numel()
    d_hidden = d_output @ W2
    d_pre = d_hidden * (1 - hidden ** 2)
    return {"W1": x.T @ d_pre, "b1": d_pre.sum(0),
            "W2": hidden.T @ d_output, "b2": d_output.sum(0)}


# the weights are updated in place with the gradients, so the caller's W1, b1, W2, b2 change
@wrong(effects.changed_input)
def class_g_11(W1, b1, W2, b2, x, y):
    lr = 0.01
    # forward pass
    h = torch.tanh(x @ W1 + b1)
    y_pred = h @ W2 + b2
    # backward pass
    grad_y_pred = 2.0 * (y_pred - y) / y_pred.numel()
    grad_w2 = h.t().mm(grad_y_pred)
    grad_b2 = grad_y_pred.sum(0)
    grad_z = grad_y_pred.mm(W2.t()) * (1 - h ** 2)
    grad_w1 = x.t().mm(grad_z)
    grad_b1 = grad_z.sum(0)
    # update
    W1 -= lr * grad_w1
    b1 -= lr * grad_b1
    W2 -= lr * grad_w2
    b2 -= lr * grad_b2
    return {"W1": grad_w1, "b1": grad_b1, "W2": grad_w2, "b2": grad_b2}


@right
def class_g_12(W1, b1, W2, b2, x, y):
    grads = {"W1": torch.zeros_like(W1), "b1": torch.zeros_like(b1),
             "W2": torch.zeros_like(W2), "b2": torch.zeros_like(b2)}
    n, k = y.shape
    for i in range(n):
        a = torch.tanh(b1 + W1.T @ x[i])
        residual = b2 + W2.T @ a - y[i]
        up = 2 * residual / (n * k)
        back = (W2 @ up) * (1 - a * a)
        grads["W2"] += torch.outer(a, up)
        grads["b2"] += up
        grads["W1"] += torch.outer(x[i], back)
        grads["b1"] += back
    return grads


# the gradients are overwritten, not added up, in the loop: only the last sample counts (right for n = 1)
@wrong(says='Only case 2 came out right, where there is one row.')
def class_g_13(W1, b1, W2, b2, x, y):
    n, k = y.shape
    for xi, yi in zip(x, y):
        hi = torch.tanh(xi @ W1 + b1)
        ei = hi @ W2 + b2 - yi
        gi = 2 * ei / (n * k)
        si = (W2 @ gi) * (1 - hi ** 2)
        grads = {
            "W1": xi[:, None] * si[None, :],
            "b1": si,
            "W2": hi[:, None] * gi[None, :],
            "b2": gi,
        }
    return grads


# the inputs are switched to requires_grad and autograd does the work: breaks the rule "by hand", and the caller's
# tensors keep a flag and a .grad
@wrong(mistakes.used_autograd)
def class_g_14(W1, b1, W2, b2, x, y):
    params = dict(W1=W1, b1=b1, W2=W2, b2=b2)
    for p in params.values():
        p.requires_grad_(True)
    ((torch.tanh(x @ W1 + b1) @ W2 + b2 - y) ** 2).mean().backward()
    return {name: p.grad for name, p in params.items()}


# torch.func.grad does the work: numbers are right, but it is autograd, where the rule asks for by hand
@wrong(mistakes.used_autograd)
def class_g_15(W1, b1, W2, b2, x, y):
    def loss(p):
        return torch.mean((torch.tanh(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"] - y) ** 2)
    return grad(loss)({"W1": W1, "b1": b1, "W2": W2, "b2": b2})


@right
def class_g_16(W1, b1, W2, b2, x, y):
    w1, c1, w2, c2, X, Y = (t.detach().cpu().numpy() for t in (W1, b1, W2, b2, x, y))
    one = np.ones((X.shape[0], 1), dtype=X.dtype)
    V1, V2 = np.vstack([w1, c1]), np.vstack([w2, c2])
    X1 = np.hstack([X, one])
    A = np.tanh(X1 @ V1)
    A1 = np.hstack([A, one])
    R = A1 @ V2 - Y
    G2 = A1.T @ R * 2 / R.size
    G1 = X1.T @ ((R @ w2.T) * (1 - A * A)) * 2 / R.size

    def back(array, like):
        return torch.tensor(array, dtype=like.dtype, device=like.device)

    return {"W1": back(G1[:-1], W1), "b1": back(G1[-1], b1), "W2": back(G2[:-1], W2), "b2": back(G2[-1], b2)}


class _Linear:
    def __init__(self, W, b):
        self.W, self.b = W, b
    def forward(self, inp):
        self.inp = inp
        return inp @ self.W + self.b
    def backward(self, up):
        self.dW = self.inp.transpose(0, 1) @ up
        self.db = up.sum(0)
        return up @ self.W.transpose(0, 1)

class _Tanh:
    def forward(self, inp):
        self.out = torch.tanh(inp)
        return self.out
    def backward(self, up):
        return up - up * self.out * self.out

class _MSE:
    def __init__(self, target):
        self.target = target
    def forward(self, inp):
        self.diff = inp - self.target
        return (self.diff ** 2).mean()
    def backward(self, up=1.0):
        return up * 2.0 * self.diff / self.diff.numel()

@right
def class_g_17(W1, b1, W2, b2, x, y):
    net = [_Linear(W1, b1), _Tanh(), _Linear(W2, b2), _MSE(y)]
    value = x
    for layer in net:
        value = layer.forward(value)
    up = 1.0
    for layer in reversed(net):
        up = layer.backward(up)
    return {"W1": net[0].dW, "b1": net[0].db, "W2": net[2].dW, "b2": net[2].db}


# the weight gradients come out transposed, (h, d) and (k, h), as nn.Linear stores its weights
@wrong(mistakes.transposed_gradients)
def class_g_18(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    out = a @ W2 + b2
    delta2 = 2 * (out - y) / out.numel()
    delta1 = (delta2 @ W2.T) * (1 - a ** 2)
    # weight.grad = delta^T @ input
    return {"W1": delta1.T @ x, "b1": delta1.sum(0),
            "W2": delta2.T @ a, "b2": delta2.sum(0)}


# the residual is built inside y with y.sub_, so the caller's y is changed
@wrong(effects.changed_input)
def class_g_19(W1, b1, W2, b2, x, y):
    a = x.matmul(W1).add_(b1).tanh_()
    out = a.matmul(W2).add_(b2)
    r = y.sub_(out).neg_()          # save memory
    r = r * (2 / r.numel())
    gz = r.matmul(W2.t()).mul_(1 - a.square())
    return {"W1": x.t().matmul(gz), "b1": gz.sum(0), "W2": a.t().matmul(r), "b2": r.sum(0)}


# the result goes through Python lists and torch.tensor, so float64 inputs come back as float32
@wrong(effects.wrong_dtype)
def class_g_20(W1, b1, W2, b2, x, y):
    w1, c1, w2, c2, X, Y = [np.array(t.tolist()) for t in (W1, b1, W2, b2, x, y)]
    A = np.tanh(X.dot(w1) + c1)
    D2 = 2 * (A.dot(w2) + c2 - Y) / Y.size
    D1 = D2.dot(w2.T) * (1 - A ** 2)
    out = {"W1": X.T.dot(D1), "b1": D1.sum(0), "W2": A.T.dot(D2), "b2": D2.sum(0)}
    return {name: torch.tensor(g.tolist()) for name, g in out.items()}


# tanh is written with exp, which overflows for large pre-activations (about 89 in float32, 710 in float64) and
# gives nan
def tanh_of_class_g_21(z):
    return (torch.exp(z) - torch.exp(-z)) / (torch.exp(z) + torch.exp(-z))

@wrong(mistakes.exponential_overflows)
def class_g_21(W1, b1, W2, b2, x, y):
    a = tanh_of_class_g_21(x @ W1 + b1)
    d2 = 2 * (a @ W2 + b2 - y) / y.numel()
    d1 = d2 @ W2.T * (1 - a ** 2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": a.T @ d2, "b2": d2.sum(0)}


# squeeze() on the residual drops an axis of size 1, so n = 1 or k = 1 raises in a later matrix product
@raised(effects.shapes_do_not_fit)
def class_g_22(W1, b1, W2, b2, x, y):
    a = (x @ W1 + b1).tanh()
    g = (a @ W2 + b2 - y).squeeze() * 2 / y.numel()
    s = (g @ W2.T) * (1 - a ** 2)
    return dict(W1=x.T @ s, b1=s.sum(0), W2=a.T @ g, b2=g.sum(0))


# the forward pass leaves out b1, so it is right only where b1 is zero AND b1's gradient is summed before the slope
# of tanh is applied
@wrong(says='The result does not change when `b1` changes.')
def class_g_23(W1, b1, W2, b2, x, y):
    act = torch.tanh(torch.mm(x, W1))
    pred = torch.mm(act, W2) + b2
    d_pred = 2 * (pred - y) / pred.numel()
    d_act = torch.mm(d_pred, W2.T)
    d_lin = d_act * (1 - act ** 2)
    return {"W1": torch.mm(x.T, d_lin), "b1": d_act.sum(0),
            "W2": torch.mm(act.T, d_pred), "b2": d_pred.sum(0)}


# keepdims leaves the bias gradients as (1, h) and (1, k) AND the keys are dW1, db1, dW2, db2
@wrong(effects.missing_entries)
def class_g_24(W1, b1, W2, b2, x, y):
    Z1 = x @ W1 + b1
    A1 = torch.tanh(Z1)
    Z2 = A1 @ W2 + b2
    dZ2 = 2 * (Z2 - y) / Z2.numel()
    dW2 = A1.T @ dZ2
    db2 = torch.sum(dZ2, dim=0, keepdim=True)
    dZ1 = dZ2 @ W2.T * (1 - torch.square(A1))
    dW1 = x.T @ dZ1
    db1 = torch.sum(dZ1, dim=0, keepdim=True)
    return {"dW1": dW1, "db1": db1, "dW2": dW2, "db2": db2}


# tanh is applied twice in the slope: 1 - tanh(a)**2 where a is already the tanh
def d_tanh(v):
    return 1 - torch.tanh(v) ** 2

@wrong(mistakes.tanh_taken_twice)
def class_g_25(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    out = a @ W2 + b2
    g_out = 2 * (out - y) / out.numel()
    g_W2 = a.T @ g_out
    g_b2 = g_out.sum(0)
    g_z = (g_out @ W2.T) * d_tanh(a)
    g_W1 = x.T @ g_z
    g_b1 = g_z.sum(0)
    return {"W1": g_W1, "b1": g_b1, "W2": g_W2, "b2": g_b2}


# the factor 2 from the derivative of the square is missing in all four gradients
@wrong(mistakes.missing_factor_two)
def class_h_01(W1, b1, W2, b2, x, y):
    # forward
    z1 = x @ W1 + b1
    a1 = torch.tanh(z1)
    pred = a1 @ W2 + b2
    # backward
    n, k = y.shape
    d_pred = (pred - y) / (n * k)
    dW2 = a1.T @ d_pred
    db2 = d_pred.sum(dim=0)
    d_a1 = d_pred @ W2.T
    d_z1 = d_a1 * (1 - a1 ** 2)
    dW1 = x.T @ d_z1
    db1 = d_z1.sum(dim=0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


@right
def class_h_02(W1, b1, W2, b2, x, y):
    w1, c1, w2, c2 = W1.tolist(), b1.tolist(), W2.tolist(), b2.tolist()
    X, Y = x.tolist(), y.tolist()
    n, d = x.shape
    h, k = W2.shape

    gW1 = [[0.0] * h for _ in range(d)]
    gb1 = [0.0] * h
    gW2 = [[0.0] * k for _ in range(h)]
    gb2 = [0.0] * k

    for s in range(n):
        act = []
        for j in range(h):
            z = c1[j]
            for i in range(d):
                z += X[s][i] * w1[i][j]
            act.append(math.tanh(z))
        err = []
        for m in range(k):
            p = c2[m]
            for j in range(h):
                p += act[j] * w2[j][m]
            err.append(2 * (p - Y[s][m]) / (n * k))
        for m in range(k):
            gb2[m] += err[m]
            for j in range(h):
                gW2[j][m] += act[j] * err[m]
        for j in range(h):
            back = 0.0
            for m in range(k):
                back += err[m] * w2[j][m]
            back *= 1 - act[j] * act[j]
            gb1[j] += back
            for i in range(d):
                gW1[i][j] += X[s][i] * back

    def pack(v, like):
        return torch.tensor(v, dtype=like.dtype, device=like.device)

    return {"W1": pack(gW1, W1), "b1": pack(gb1, b1), "W2": pack(gW2, W2), "b2": pack(gb2, b2)}


# the mean is taken over the n rows only: divided by n, not by n * k
@wrong(mistakes.averaged_over_rows_only)
def class_h_03(W1, b1, W2, b2, x, y):
    n = x.shape[0]
    hidden = torch.tanh(x @ W1 + b1)
    out = hidden @ W2 + b2

    grad_out = 2 * (out - y) / n          # MSE: 2/n * (pred - target)

    grad_W2 = hidden.t() @ grad_out
    grad_b2 = grad_out.sum(0)
    grad_hidden = grad_out @ W2.t()
    grad_pre = grad_hidden * (1 - hidden ** 2)
    grad_W1 = x.t() @ grad_pre
    grad_b1 = grad_pre.sum(0)

    return {"W1": grad_W1, "b1": grad_b1, "W2": grad_W2, "b2": grad_b2}


# the bias gradients are not summed over the batch, they keep the shapes (n, h) and (n, k)
@wrong(mistakes.rows_not_summed)
def class_h_04(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    out = a @ W2 + b2
    delta2 = 2 * (out - y) / y.numel()
    delta1 = (delta2 @ W2.T) * (1 - a ** 2)
    grads = {}
    grads["W2"] = a.T @ delta2
    grads["b2"] = delta2            # d out / d b2 = 1
    grads["W1"] = x.T @ delta1
    grads["b1"] = delta1            # d z / d b1 = 1
    return grads


# tanh is applied twice in its derivative: 1 - tanh(a)**2 where a is already tanh(z)
def tanh_prime(t):
    return 1 - torch.tanh(t) ** 2

@wrong(mistakes.tanh_taken_twice)
def class_h_05(W1, b1, W2, b2, x, y):
    z = torch.matmul(x, W1) + b1
    a = torch.tanh(z)
    yhat = torch.matmul(a, W2) + b2
    dy = 2 * (yhat - y) / yhat.numel()
    dz = torch.matmul(dy, W2.T) * tanh_prime(a)
    return {
        "W1": torch.matmul(x.T, dz),
        "b1": dz.sum(dim=0),
        "W2": torch.matmul(a.T, dy),
        "b2": dy.sum(dim=0),
    }


# b1 is computed from the gradient before the tanh derivative is multiplied in
@wrong(mistakes.activation_derivative_missing_in_b1)
def class_h_06(W1, b1, W2, b2, x, y):
    a = (x @ W1 + b1).tanh()
    e = (a @ W2 + b2 - y) * (2 / y.numel())
    g = e @ W2.T
    return dict(W1=x.T @ (g * (1 - a * a)), b1=g.sum(0), W2=a.T @ e, b2=e.sum(0))


@right
def class_h_07(W1, b1, W2, b2, x, y):
    device = x.device
    w1, c1, w2, c2, X, Y = (t.detach().cpu().numpy() for t in (W1, b1, W2, b2, x, y))
    A = np.tanh(np.dot(X, w1) + c1)
    D2 = 2.0 * (np.dot(A, w2) + c2 - Y) / Y.size
    D1 = np.dot(D2, w2.T) * (1.0 - np.square(A))
    result = {
        "W1": np.dot(X.T, D1),
        "b1": np.sum(D1, axis=0),
        "W2": np.dot(A.T, D2),
        "b2": np.sum(D2, axis=0),
    }
    return {key: torch.from_numpy(np.ascontiguousarray(val)).to(device) for key, val in result.items()}


# the error is sent back through W2 instead of its transpose: a shape error unless h == k, and wrong numbers when it
# runs
@raised(mistakes.w2_not_transposed)
def class_h_08(W1, b1, W2, b2, x, y):
    h1 = torch.tanh(x @ W1 + b1)
    pred = h1 @ W2 + b2
    N = pred.numel()
    dpred = 2.0 / N * (pred - y)

    # chain rule: d loss / d h1 = d loss / d pred * W2
    dh1 = dpred @ W2
    dz1 = dh1 * (1.0 - h1 ** 2)

    return {"W1": x.T @ dz1, "b1": dz1.sum(0), "W2": h1.T @ dpred, "b2": dpred.sum(0)}


# after the gradients an SGD step is made in place, so the parameters that were handed over are changed
@wrong(effects.changed_input)
def class_h_09(W1, b1, W2, b2, x, y, lr=0.01):
    # forward pass
    hidden = torch.tanh(x @ W1 + b1)
    pred = hidden @ W2 + b2
    loss = ((pred - y) ** 2).mean()

    # backward pass
    dpred = 2 * (pred - y) / pred.numel()
    grads = {"W2": hidden.T @ dpred, "b2": dpred.sum(0)}
    dhidden = (dpred @ W2.T) * (1 - hidden ** 2)
    grads["W1"] = x.T @ dhidden
    grads["b1"] = dhidden.sum(0)

    # update
    for p, name in ((W1, "W1"), (b1, "b1"), (W2, "W2"), (b2, "b2")):
        p -= lr * grads[name]
    return {k: grads[k] for k in ("W1", "b1", "W2", "b2")}


# the gradients come from torch.func.grad: autograd, which the rule forbids
@wrong(mistakes.used_autograd)
def class_h_10(W1, b1, W2, b2, x, y):
    params = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}

    def loss(p):
        return ((torch.tanh(x @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"] - y) ** 2).mean()

    return grad(loss)(params)


# a is squared in place for the tanh derivative before it is used for W2, whose gradient is then built from a**2
@wrong(says='Right: `W1`, `b1` and `b2`. Wrong: `W2`.')
def class_h_11(W1, b1, W2, b2, x, y):
    a = torch.addmm(b1, x, W1).tanh_()
    r = torch.addmm(b2, a, W2).sub_(y).mul_(2 / y.numel())
    # no extra buffers: reuse a
    dz = (r @ W2.t()).mul_(1 - a.mul_(a))
    return {"W1": x.t() @ dz, "b1": dz.sum(0), "W2": a.t() @ r, "b2": r.sum(0)}


@right
def class_h_12(W1, b1, W2, b2, x, y):
    act = torch.tanh(torch.einsum("nd,dh->nh", x, W1) + b1)
    res = torch.einsum("nh,hk->nk", act, W2) + b2 - y
    res = res.mul(2.0).div(res.numel())
    pre = torch.einsum("nk,hk,nh->nh", res, W2, 1 - act.square())
    return {
        "W1": torch.einsum("nd,nh->dh", x, pre),
        "b1": torch.einsum("nh->h", pre),
        "W2": torch.einsum("nh,nk->hk", act, res),
        "b2": torch.einsum("nk->k", res),
    }


# the derivative of the sigmoid, a * (1 - a), is used for tanh AND the bias gradients are averaged over the batch a
# second time instead of summed
@wrong(says='Right: `W2`. Wrong: `W1`, `b1` and `b2`.')
def class_h_13(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    out = a @ W2 + b2
    d_out = 2 * (out - y) / out.numel()
    d_W2 = a.T @ d_out
    d_b2 = d_out.mean(dim=0)
    d_a = d_out @ W2.T
    d_z = d_a * a * (1 - a)       # derivative of the activation
    d_W1 = x.T @ d_z
    d_b1 = d_z.mean(dim=0)
    return {"W1": d_W1, "b1": d_b1, "W2": d_W2, "b2": d_b2}


# the error is y - prediction without the minus sign, so every gradient has its sign turned AND W2's gradient uses
# the pre-activation z instead of tanh(z)
@wrong(says="The numbers are those of a known mistake, times -1. W2's input was taken before tanh (hidden-before-activation)")
def class_h_14(W1, b1, W2, b2, x, y):
    z = x @ W1 + b1
    y_pred = torch.tanh(z) @ W2 + b2
    error = 2 * (y - y_pred) / y.numel()

    dW2 = z.T @ error
    db2 = error.sum(axis=0)
    dz = (error @ W2.T) * (1 - torch.tanh(z) ** 2)
    dW1 = x.T @ dz
    db1 = dz.sum(axis=0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# the deltas are squeezed before the sum over the batch: with one row the bias gradient adds up the units to a 0-d
# tensor, with one output (or one hidden unit) it loses its axis
@wrong(effects.wrong_shape)
def class_h_15(W1, b1, W2, b2, x, y):
    def bias_grad(delta):
        return delta.squeeze().sum(0) if delta.numel() > 1 else delta.reshape(-1)

    a = torch.tanh(x @ W1 + b1)
    delta_out = 2 * (a @ W2 + b2 - y) / y.numel()
    delta_hid = (1 - a.pow(2)) * (delta_out @ W2.T)
    return {
        "W1": x.T @ delta_hid,
        "b1": bias_grad(delta_hid),
        "W2": a.T @ delta_out,
        "b2": bias_grad(delta_out),
    }


# tanh is written with exp(z) and exp(-z), which overflow for large z of either sign: inf / inf gives nan in the
# gradients
def my_tanh_of_class_h_16(z):
    e_pos = torch.exp(z)
    e_neg = torch.exp(-z)
    return (e_pos - e_neg) / (e_pos + e_neg)

@wrong(mistakes.exponential_overflows)
def class_h_16(W1, b1, W2, b2, x, y):
    a = my_tanh_of_class_h_16(x @ W1 + b1)
    diff = a @ W2 + b2 - y
    d2 = 2 * diff / diff.numel()
    d1 = (d2 @ W2.T) * (1 - a ** 2)
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": a.T @ d2, "b2": d2.sum(0)}


# the buffers are made with torch.zeros in the default dtype, so float64 inputs get float32 gradients
@wrong(effects.wrong_dtype)
def class_h_17(W1, b1, W2, b2, x, y):
    d, h = W1.shape
    k = W2.shape[1]
    n = len(x)
    gW1, gb1 = torch.zeros(d, h), torch.zeros(h)
    gW2, gb2 = torch.zeros(h, k), torch.zeros(k)
    for xi, yi in zip(x, y):
        a = torch.tanh(xi @ W1 + b1)
        e = 2 * (a @ W2 + b2 - yi) / (n * k)
        back = (W2 @ e) * (1 - a ** 2)
        gW2 += a[:, None] * e[None, :]
        gb2 += e
        gW1 += xi[:, None] * back[None, :]
        gb1 += back
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


class Affine_of_class_h_18:
    def __init__(self, W, b):
        self.W, self.b = W, b

    def forward(self, inp):
        self.inp = inp
        return inp @ self.W + self.b

    def backward(self, g):
        self.dW = self.inp.T @ g
        self.db = g.sum(0)
        return g @ self.W.T

class Tanh_of_class_h_18:
    def forward(self, inp):
        self.out = torch.tanh(inp)
        return self.out

    def backward(self, g):
        return g * (1 - self.out * self.out)

class MSE_of_class_h_18:
    def forward(self, pred, target):
        self.diff = pred - target
        return (self.diff ** 2).mean()

    def backward(self):
        return 2 * self.diff / self.diff.numel()

@right
def class_h_18(W1, b1, W2, b2, x, y):
    first, act, second, mse = Affine_of_class_h_18(W1, b1), Tanh_of_class_h_18(), Affine_of_class_h_18(W2, b2), MSE_of_class_h_18()
    h = x
    for layer in (first, act, second):
        h = layer.forward(h)
    mse.forward(h, y)
    g = mse.backward()
    for layer in (second, act, first):
        g = layer.backward(g)
    return {"W1": first.dW, "b1": first.db, "W2": second.dW, "b2": second.db}


# the formula runs on copies that require gradients, so the returned W1, b1, W2 and b2 carry a graph
@wrong(effects.carries_a_graph)
def class_h_19(W1, b1, W2, b2, x, y):
    W1, b1, W2, b2 = [nn.Parameter(p.clone()) for p in (W1, b1, W2, b2)]
    a = torch.tanh(x @ W1 + b1)
    pred = a @ W2 + b2
    grad_pred = 2 * (pred - y) / pred.numel()
    grad_z = grad_pred @ W2.t() * (1 - a ** 2)
    return {
        "W1": x.t() @ grad_z,
        "b1": grad_z.sum(0),
        "W2": a.t() @ grad_pred,
        "b2": grad_pred.sum(0),
    }


# x.t_() transposes the caller's x in place and it is never turned back
@wrong(effects.changed_input)
def class_h_20(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    d2 = 2 * (a @ W2 + b2 - y) / y.numel()
    d1 = d2 @ W2.t() * (1 - a * a)
    return {"W1": x.t_() @ d1, "b1": d1.sum(0), "W2": a.t_() @ d2, "b2": d2.sum(0)}


# the gradients are measured with central differences of step 1e-3 instead of derived: only an approximation
@wrong(says='Only cases 8 and 10 came out right, where the inputs are float32.')
def class_h_21(W1, b1, W2, b2, x, y):
    params = {"W1": W1, "b1": b1, "W2": W2, "b2": b2}
    work = {name: p.double().clone(memory_format=torch.contiguous_format) for name, p in params.items()}
    X, Y = x.double(), y.double()

    def loss():
        out = torch.tanh(X @ work["W1"] + work["b1"]) @ work["W2"] + work["b2"]
        return ((out - Y) ** 2).mean().item()

    eps = 1e-3
    grads = {}
    for name, p in params.items():
        flat = work[name].view(-1)
        g = torch.zeros_like(flat)
        for i in range(flat.numel()):
            keep = flat[i].item()
            flat[i] = keep + eps
            up = loss()
            flat[i] = keep - eps
            down = loss()
            flat[i] = keep
            g[i] = (up - down) / (2 * eps)
        grads[name] = g.view(p.shape).to(p.dtype)
    return grads


# the weight gradients are laid out as nn.Linear stores its weights, (h, d) and (k, h): transposed
@wrong(mistakes.transposed_gradients)
def class_h_22(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    logits = hidden @ W2 + b2
    go = (2.0 / logits.numel()) * (logits - y)
    gh = go @ W2.transpose(0, 1)
    gz = gh * (1.0 - hidden.pow(2))
    # same as in nn.Linear: weight.grad = grad_output^T @ input
    return {"W1": gz.T @ x, "b1": gz.sum(0), "W2": go.T @ hidden, "b2": go.sum(0)}


# loss.backward() is called on tensors that require no gradients, which raises a RuntimeError (and would be
# autograd, against the rule)
@raised(mistakes.autograd_asked_in_vain)
def class_h_23(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    pred = hidden @ W2 + b2
    loss = torch.mean((pred - y) ** 2)
    loss.backward()
    return {"W1": W1.grad, "b1": b1.grad, "W2": W2.grad, "b2": b2.grad}


@right
def class_h_24(W1, b1, W2, b2, x, y):
    scale = 2.0 / (y.shape[0] * y.shape[1])

    def one(xi, yi):
        a = (xi @ W1 + b1).tanh()
        e = scale * (a @ W2 + b2 - yi)
        s = (W2 @ e) * (1 + a) * (1 - a)
        return torch.outer(xi, s), s, torch.outer(a, e), e

    def add(p, q):
        return tuple(u + v for u, v in zip(p, q))

    total = reduce(add, map(one, x.unbind(0), y.unbind(0)))
    return dict(zip(("W1", "b1", "W2", "b2"), total))


# a tuple (dW1, db1, dW2, db2) is returned instead of the dict AND the bias gradients keep a leading axis of 1
# (keepdim=True)
@wrong(effects.wrong_type)
def class_h_25(W1, b1, W2, b2, x, y):
    m = y.shape[0] * y.shape[1]
    Z1 = x @ W1 + b1
    A1 = torch.tanh(Z1)
    Z2 = A1 @ W2 + b2

    dZ2 = 2 * (Z2 - y) / m
    dW2 = A1.T @ dZ2
    db2 = torch.sum(dZ2, dim=0, keepdim=True)
    dZ1 = (dZ2 @ W2.T) * (1 - torch.pow(A1, 2))
    dW1 = x.T @ dZ1
    db1 = torch.sum(dZ1, dim=0, keepdim=True)
    return dW1, db1, dW2, db2


# divides by n only; the mean runs over n * k entries
@wrong(mistakes.averaged_over_rows_only)
def class_i_01(W1, b1, W2, b2, x, y):
    n = x.shape[0]
    # forward
    z = x @ W1 + b1
    a = torch.tanh(z)
    out = a @ W2 + b2
    # backward
    dout = 2 * (out - y) / n
    dW2 = a.T @ dout
    db2 = dout.sum(0)
    dz = (dout @ W2.T) * (1 - a ** 2)
    dW1 = x.T @ dz
    db1 = dz.sum(0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# the factor 2 of the square is missing
@wrong(mistakes.missing_factor_two)
def class_i_02(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    pred = hidden @ W2 + b2
    err = (pred - y) / y.numel()
    grads = {}
    grads["W2"] = hidden.t() @ err
    grads["b2"] = err.sum(dim=0)
    back = err @ W2.t()
    back = back * (1 - hidden * hidden)
    grads["W1"] = x.t() @ back
    grads["b1"] = back.sum(dim=0)
    return grads


# derivative of tanh taken as 1 - tanh(a)**2 with a already the tanh (tanh applied twice)
@wrong(mistakes.tanh_taken_twice)
def class_i_03(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    p = a @ W2 + b2
    dp = 2 * (p - y) / p.numel()
    da = dp @ W2.T
    dz = da * (1 - torch.tanh(a) ** 2)
    return {
        "W1": x.T @ dz,
        "b1": dz.sum(0),
        "W2": a.T @ dp,
        "b2": dp.sum(0),
    }


@right
def class_i_04(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    r = a @ W2 + b2 - y
    d_out = r * (2.0 / r.numel())
    d_hid = (d_out @ W2.T) * (1 - a * a)
    return {
        "W1": x.T @ d_hid,
        "b1": d_hid.sum(dim=0),
        "W2": a.T @ d_out,
        "b2": d_out.sum(dim=0),
    }


# the derivative of the sigmoid a * (1 - a) is used for tanh
@wrong(mistakes.sigmoid_slope)
def class_i_05(W1, b1, W2, b2, x, y):
    # forward pass
    a1 = torch.tanh(torch.matmul(x, W1) + b1)
    a2 = torch.matmul(a1, W2) + b2
    m = y.shape[0] * y.shape[1]
    # backward pass
    delta2 = 2.0 / m * (a2 - y)
    delta1 = torch.matmul(delta2, W2.T) * a1 * (1 - a1)
    return dict(W1=torch.matmul(x.T, delta1), b1=delta1.sum(axis=0),
                W2=torch.matmul(a1.T, delta2), b2=delta2.sum(axis=0))


# the gradients of the biases are not summed over the batch, they have shapes (n, h) and (n, k)
@wrong(mistakes.rows_not_summed)
def class_i_06(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    o = h @ W2 + b2
    go = 2 * (o - y) / o.numel()
    gW2 = h.T @ go
    gb2 = go * 1          # d o / d b2 = 1
    gh = go @ W2.T
    gz = gh * (1 - h.pow(2))
    gW1 = x.T @ gz
    gb1 = gz * 1
    return {'W1': gW1, 'b1': gb1, 'W2': gW2, 'b2': gb2}


# the gradient does not pass through the tanh: the factor 1 - a**2 is missing
@wrong(mistakes.activation_derivative_missing)
def class_i_07(W1, b1, W2, b2, x, y):
    a = (x @ W1 + b1).tanh()
    e = a @ W2 + b2 - y
    d2 = 2 * e / e.numel()
    d1 = d2 @ W2.T
    return {"W1": x.T @ d1, "b1": d1.sum(0), "W2": a.T @ d2, "b2": d2.sum(0)}


# the bias gradients are means over the batch instead of sums (the n is divided out twice)
@wrong(mistakes.bias_averaged)
def class_i_08(W1, b1, W2, b2, x, y):
    n, k = y.shape
    a = torch.tanh(x @ W1 + b1)
    y_hat = a @ W2 + b2
    dy = 2 * (y_hat - y) / (n * k)
    dW2 = a.T @ dy
    db2 = dy.mean(dim=0)
    dz = dy @ W2.T * (1 - a ** 2)
    dW1 = x.T @ dz
    db1 = dz.mean(dim=0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


@right
def class_i_09(W1, b1, W2, b2, x, y):
    es = torch.einsum
    t = torch.tanh(es("nd,dh->nh", x, W1) + b1)
    res = es("nh,hk->nk", t, W2) + b2 - y
    scale = 2 / (y.shape[0] * y.shape[1])
    slope = 1 - t.square()
    return {
        "W1": scale * es("nd,nh,hk,nk->dh", x, slope, W2, res),
        "b1": scale * es("nh,hk,nk->h", slope, W2, res),
        "W2": scale * es("nh,nk->hk", t, res),
        "b2": scale * es("nk->k", res),
    }


# the residual is y - prediction, so all four gradients have the wrong sign
@wrong(mistakes.gradient_sign_flipped)
def class_i_10(W1, b1, W2, b2, x, y):
    act = torch.tanh(x @ W1 + b1)
    pred = act @ W2 + b2
    error = y - pred
    g = 2 * error / error.numel()
    g_hidden = (g @ W2.T) * (1 - act ** 2)
    return {"W1": x.T @ g_hidden, "b1": g_hidden.sum(0), "W2": act.T @ g, "b2": g.sum(0)}


# W2 takes a step in place before it is used for the hidden layer (and W2, b2 come back changed)
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_i_11(W1, b1, W2, b2, x, y, lr=0.1):
    a = torch.tanh(x @ W1 + b1)
    out = a @ W2 + b2
    delta = 2 * (out - y) / out.numel()
    dW2 = a.T @ delta
    db2 = delta.sum(0)
    W2 -= lr * dW2
    b2 -= lr * db2
    delta = (delta @ W2.T) * (1 - a ** 2)
    dW1 = x.T @ delta
    db1 = delta.sum(0)
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# y is overwritten in place: sub_ makes it the residual, so the caller's y comes back changed
@wrong(effects.changed_input)
def class_i_12(W1, b1, W2, b2, x, y):
    a = (x @ W1).add_(b1).tanh_()
    d = y.sub_(a @ W2 + b2).mul_(-2.0 / y.numel())
    g = {"W2": a.T @ d, "b2": d.sum(0)}
    d = (d @ W2.T).mul_(1 - a * a)
    g["W1"] = x.T @ d
    g["b1"] = d.sum(0)
    return g


# a is turned into 1 - a**2 in place before W2's gradient is made of it, so W2's gradient is wrong
@wrong(says='Right: `W1`, `b1` and `b2`. Wrong: `W2`.')
def class_i_13(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    d2 = (a @ W2 + b2 - y) * 2 / y.numel()
    d1 = (d2 @ W2.T) * a.pow_(2).neg_().add_(1)
    return dict(W1=x.T @ d1, b1=d1.sum(0), W2=a.T @ d2, b2=d2.sum(0))


@right
def class_i_14(W1, b1, W2, b2, x, y):
    one = torch.ones_like(x[:, :1])
    X = torch.cat([x, one], dim=1)                    # (n, d+1)
    V1 = torch.cat([W1, b1.unsqueeze(0)], dim=0)      # (d+1, h)
    H = torch.cat([torch.tanh(X @ V1), one], dim=1)   # (n, h+1)
    V2 = torch.cat([W2, b2.unsqueeze(0)], dim=0)
    D = (H @ V2 - y).mul(2).div(y.numel())
    G2 = H.mT @ D
    S = (D @ V2.mT * (1 - H ** 2))[:, :-1]            # the ones have no gradient
    G1 = X.mT @ S
    return {"W1": G1[:-1].clone(), "b1": G1[-1].clone(), "W2": G2[:-1].clone(), "b2": G2[-1].clone()}


# the keys are dW1, db1, dW2, db2 and not W1, b1, W2, b2 AND the bias gradients keep the batch dimension, (1, h) and
# (1, k)
@wrong(effects.missing_entries)
def class_i_15(W1, b1, W2, b2, x, y):
    A1 = torch.tanh(x @ W1 + b1)
    A2 = A1 @ W2 + b2
    dZ2 = 2 * (A2 - y) / y.numel()
    dW2 = A1.T @ dZ2
    db2 = torch.sum(dZ2, dim=0, keepdim=True)
    dZ1 = (dZ2 @ W2.T) * (1 - A1 ** 2)
    dW1 = x.T @ dZ1
    db1 = torch.sum(dZ1, dim=0, keepdim=True)
    grads = {"dW1": dW1, "db1": db1, "dW2": dW2, "db2": db2}
    return grads


class Affine_of_class_i_16:
    def __init__(self, W, b):
        self.W, self.b = W, b

    def forward(self, inp):
        self.inp = inp
        return inp.matmul(self.W) + self.b

    def backward(self, up):
        self.gW = self.inp.transpose(0, 1).matmul(up)
        self.gb = up.sum(0)
        return up.matmul(self.W.transpose(0, 1))

class Tanh_of_class_i_16:
    def forward(self, inp):
        self.out = inp.tanh()
        return self.out

    def backward(self, up):
        return up * (1 - self.out ** 2)

@right
def class_i_16(W1, b1, W2, b2, x, y):
    first, act, second = Affine_of_class_i_16(W1, b1), Tanh_of_class_i_16(), Affine_of_class_i_16(W2, b2)
    signal = x
    for layer in (first, act, second):
        signal = layer.forward(signal)
    signal = 2 * (signal - y) / y.numel()
    for layer in (second, act, first):
        signal = layer.backward(signal)
    return {"W1": first.gW, "b1": first.gb, "W2": second.gW, "b2": second.gb}


# breaks the rule "by hand": the gradients come from torch.autograd.grad
@wrong(mistakes.used_autograd)
def class_i_17(W1, b1, W2, b2, x, y):
    ps = [p.detach().clone().requires_grad_() for p in (W1, b1, W2, b2)]
    with torch.enable_grad():
        loss = ((torch.tanh(x @ ps[0] + ps[1]) @ ps[2] + ps[3] - y) ** 2).mean()
    return dict(zip(["W1", "b1", "W2", "b2"], torch.autograd.grad(loss, ps)))


# W2 is squeezed to a vector and multiplied entrywise, right for k = 1 only: RuntimeError for most k > 1, wrong
# numbers where the shapes happen to fit
@raised(effects.shapes_do_not_fit)
def class_i_18(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    d = 2 * (a @ W2 + b2 - y) / y.numel()
    da = d * W2.squeeze()
    dz = da * (1 - a ** 2)
    return {"W1": x.T @ dz, "b1": dz.sum(0), "W2": a.T @ d, "b2": d.sum(0)}


# the product for W2 is d.T @ a, so its gradient is transposed, (k, h)
@wrong(mistakes.w2_gradient_transposed)
def class_i_19(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    out = a @ W2 + b2
    d = 2 * (out - y) / out.numel()
    gW2 = d.T @ a
    gb2 = d.sum(0)
    e = d @ W2.T * (1 - a ** 2)
    gW1 = (e.T @ x).T
    gb1 = e.sum(0)
    return {"W1": gW1, "b1": gb1, "W2": gW2, "b2": gb2}


# squeeze() drops dimensions of size one, so W1 and W2 lose their shape when d, h or k is 1 (and the biases become
# 0-d)
@wrong(effects.wrong_shape)
def class_i_20(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    d2 = 2 * (a @ W2 + b2 - y) / y.numel()
    d1 = (d2 @ W2.T) * (1 - a ** 2)
    grads = {"W1": x.T @ d1, "b1": d1.sum(0, keepdim=True), "W2": a.T @ d2, "b2": d2.sum(0, keepdim=True)}
    return {name: g.squeeze() for name, g in grads.items()}


@right
def class_i_21(W1, b1, W2, b2, x, y):
    g = {"W1": torch.zeros_like(W1), "b1": torch.zeros_like(b1),
         "W2": torch.zeros_like(W2), "b2": torch.zeros_like(b2)}
    count = y.shape[0] * y.shape[1]
    for xi, yi in zip(x, y):
        hi = torch.tanh(xi @ W1 + b1)
        oi = hi @ W2 + b2
        u = 2 * (oi - yi) / count
        v = (W2 @ u) * (1 - hi ** 2)
        g["W2"] += torch.outer(hi, u)
        g["b2"] += u
        g["W1"] += torch.outer(xi, v)
        g["b1"] += v
    return g


# b1 and W1 are assigned with = inside the loop, so only the last sample counts; right for one row
@wrong(says='Right: `W2` and `b2`. Wrong: `W1` and `b1`.')
def class_i_22(W1, b1, W2, b2, x, y):
    dW1, db1 = torch.zeros_like(W1), torch.zeros_like(b1)
    dW2, db2 = torch.zeros_like(W2), torch.zeros_like(b2)
    N = y.numel()
    for i in range(x.shape[0]):
        h = torch.tanh(x[i] @ W1 + b1)
        diff = 2 * (h @ W2 + b2 - y[i]) / N
        dW2 += h[:, None] * diff[None, :]
        db2 += diff
        dh = (W2 @ diff) * (1 - h ** 2)
        dW1 = x[i][:, None] * dh[None, :]
        db1 = dh
    return {"W1": dW1, "b1": db1, "W2": dW2, "b2": db2}


# everything is cast to float32, so float64 inputs come back as float32 AND the biases are summed over dimension 1,
# shape (n,)
@wrong(effects.wrong_shape)
def class_i_23(W1, b1, W2, b2, x, y):
    W1, b1, W2, b2, x, y = [t.detach().cpu().numpy().astype(np.float32) for t in (W1, b1, W2, b2, x, y)]
    a = np.tanh(x @ W1 + b1)
    d2 = 2 * (a @ W2 + b2 - y) / y.size
    d1 = (d2 @ W2.T) * (1 - a ** 2)
    g = {"W1": x.T @ d1, "b1": d1.sum(axis=1), "W2": a.T @ d2, "b2": d2.sum(axis=1)}
    return {k: torch.from_numpy(v) for k, v in g.items()}


# b1 is forgotten in the forward pass AND the derivative of tanh is 1 - z**2 with z before the tanh
@wrong(says='The result does not change when `b1` changes.')
def class_i_24(W1, b1, W2, b2, x, y):
    z = x @ W1
    h = torch.tanh(z)
    q = h @ W2 + b2
    dq = (2 / q.numel()) * (q - y)
    dz = torch.mm(dq, W2.T) * (1 - z ** 2)
    result = {"W2": torch.mm(h.T, dq), "b2": dq.sum(0)}
    result.update({"W1": torch.mm(x.T, dz), "b1": dz.sum(0)})
    return result


# x @ dz without the transpose: RuntimeError for most shapes, another matrix where the sizes happen to fit
@raised(effects.shapes_do_not_fit)
def class_i_25(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    output = hidden @ W2 + b2
    grad_out = 2 * (output - y) / output.numel()
    grad_W2 = hidden.T @ grad_out
    grad_b2 = torch.sum(grad_out, 0)
    grad_z = (grad_out @ W2.T) * (1 - hidden ** 2)
    grad_W1 = x @ grad_z
    grad_b1 = torch.sum(grad_z, 0)
    return {"W1": grad_W1, "b1": grad_b1, "W2": grad_W2, "b2": grad_b2}
