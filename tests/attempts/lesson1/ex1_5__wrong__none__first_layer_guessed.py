"""Half right: the second layer is derived, the first one is zeros."""

import torch


def two_layer_backward(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    return {"W1": torch.zeros_like(W1), "b1": torch.zeros_like(b1), "W2": h.T @ d2, "b2": d2.sum(0)}
