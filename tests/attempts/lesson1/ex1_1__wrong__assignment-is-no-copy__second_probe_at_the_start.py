"""The second name undoes the first move: the probes are x + h and x."""

import torch


def numerical_gradient(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        plus = x
        plus[i] += h
        up = f(plus)
        minus = x
        minus[i] -= h
        down = f(minus)
        grad[i] = (up - down) / (2 * h)
    return grad
