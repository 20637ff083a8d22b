"""The sum over the rows is the sum over one half and over the other."""

import torch


def linear_mse_gradient(w, x, y):
    def total(x, y):
        if len(y) == 1:
            return 2 * (torch.dot(x[0], w) - y[0]) * x[0]
        half = len(y) // 2
        return total(x[:half], y[:half]) + total(x[half:], y[half:])

    return total(x, y) / len(y)
