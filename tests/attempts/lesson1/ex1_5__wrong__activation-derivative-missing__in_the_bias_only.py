"""Half right: W1 gets the slope of tanh, b1 does not."""

import torch


def two_layer_backward(W1, b1, W2, b2, x, y):
    h = torch.tanh(x @ W1 + b1)
    d2 = 2 * (h @ W2 + b2 - y) / y.numel()
    into_h = d2 @ W2.T
    return {"W1": x.T @ (into_h * (1 - h**2)), "b1": into_h.sum(0), "W2": h.T @ d2, "b2": d2.sum(0)}
