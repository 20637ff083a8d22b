"""reshape gives a view of a contiguous copy, and a copy of a non-contiguous one: that one never moves."""

import torch


def numerical_gradient(f, x, h=1e-5):
    grad = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
    for i in range(x.numel()):
        plus, minus = x.clone(), x.clone()
        plus.reshape(-1)[i] += h
        minus.reshape(-1)[i] -= h
        grad[i] = (f(plus) - f(minus)) / (2 * h)
    return grad.reshape(x.shape)
