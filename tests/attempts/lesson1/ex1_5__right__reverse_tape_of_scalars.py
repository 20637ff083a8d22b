"""A scalar tape in the manner of micrograd, over Python floats."""

import math

import torch


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


def two_layer_backward(W1, b1, W2, b2, x, y):
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
