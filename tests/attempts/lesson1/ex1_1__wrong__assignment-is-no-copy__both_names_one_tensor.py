"""plus and minus are two names of x: both probes are the same point."""

import torch


def numerical_gradient(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for i in range(x.numel()):
        plus = x
        minus = x
        plus[i] += h
        minus[i] -= h
        grad[i] = (f(plus) - f(minus)) / (2 * h)
    return grad
