"""Indices from itertools.product; a 0-d tensor has the one index ()."""

from itertools import product

import torch


def numerical_gradient(f, x, h=1e-5):
    result = torch.empty_like(x)
    for index in product(*(range(size) for size in x.shape)):
        step = torch.zeros_like(x)
        step[index] = h
        result[index] = (f(x + step) - f(x - step)) / (2 * h)
    return result
