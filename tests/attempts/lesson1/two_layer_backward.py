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


# What prediction 1.i takes for the slope: the value.
@wrong(mistakes.value_for_slope)
def times_the_hidden_value(W1, b1, W2, b2, x, y):
    hidden = torch.tanh(x @ W1 + b1)
    to_out = 2 * (hidden @ W2 + b2 - y) / y.numel()
    to_hidden = (to_out @ W2.T) * hidden
    return {"W1": x.T @ to_hidden, "b1": to_hidden.sum(0), "W2": hidden.T @ to_out, "b2": to_out.sum(0)}


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


# the numbers are right but nothing is detached: with weights that require gradients the results carry a graph
@right
def class_b_21(W1, b1, W2, b2, x, y):
    a = torch.tanh(x @ W1 + b1)
    back = lambda e: (e, (e @ W2.T) * (1 - a ** 2))
    e2, e1 = back(2 * (a @ W2 + b2 - y) / y.numel())
    layer = lambda i, inp, e: {f"W{i}": inp.T @ e, f"b{i}": e.sum(0)}
    return layer(1, x, e1) | layer(2, a, e2)


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


# the gradient of W2 comes out transposed, as (k, h) instead of (h, k)
@wrong(mistakes.w2_gradient_transposed)
def class_c_10(W1, b1, W2, b2, x, y):
    H = torch.tanh(x @ W1 + b1)
    E = 2 * (H @ W2 + b2 - y) / y.numel()
    D = torch.einsum('nk,hk->nh', E, W2) * (1 - H * H)
    return {'W1': torch.einsum('nd,nh->dh', x, D), 'b1': torch.einsum('nh->h', D),
            'W2': torch.einsum('nk,nh->kh', E, H), 'b2': torch.einsum('nk->k', E)}


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


# the error is sent back by an elementwise product with W2 flattened to one row, which is good for one output column
# only: for k > 1 it raises, or with h = 1 gives wrong shapes
@raised(effects.shapes_do_not_fit)
def class_c_14(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    e = 2 * (h @ W2 + b2 - y) / y.numel()
    dz = e * W2.reshape(1, -1) * (1 - h ** 2)
    return {"W1": x.T @ dz, "b1": dz.sum(0), "W2": (h * e).sum(0).reshape(W2.shape), "b2": e.sum(0)}


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


# the inputs are switched to requires_grad and autograd does the work: breaks the rule "by hand", and the caller's
# tensors keep a flag and a .grad
@wrong(mistakes.used_autograd)
def class_g_14(W1, b1, W2, b2, x, y):
    params = dict(W1=W1, b1=b1, W2=W2, b2=b2)
    for p in params.values():
        p.requires_grad_(True)
    ((torch.tanh(x @ W1 + b1) @ W2 + b2 - y) ** 2).mean().backward()
    return {name: p.grad for name, p in params.items()}


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


