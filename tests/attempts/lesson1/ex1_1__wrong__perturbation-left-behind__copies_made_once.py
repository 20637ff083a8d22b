"""The copies are made before the loop, so the moves pile up in both."""

import torch


def numerical_gradient(f, x, h=1e-5):
    plus = x.clone().reshape(-1)
    minus = x.clone().reshape(-1)
    grad = torch.zeros_like(plus)
    for i in range(x.numel()):
        plus[i] += h
        minus[i] -= h
        grad[i] = (f(plus.reshape(x.shape)) - f(minus.reshape(x.shape))) / (2 * h)
    return grad.reshape(x.shape)
