"""A copy for each probe, one flat position at a time."""

import torch


def numerical_gradient(f, x, h=1e-5):
    grad = torch.zeros_like(x, memory_format=torch.contiguous_format)
    flat = grad.view(-1)
    for i in range(x.numel()):
        plus = x.clone().reshape(-1)
        minus = x.clone().reshape(-1)
        plus[i] += h
        minus[i] -= h
        flat[i] = (f(plus.reshape(x.shape)) - f(minus.reshape(x.shape))) / (2 * h)
    return grad
