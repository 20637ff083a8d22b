"""The slope of tanh as 1 / cosh squared, the mean as a mean, the weights by batched outer products."""

import torch


def two_layer_backward(W1, b1, W2, b2, x, y):
    z = torch.addmm(b1, x, W1)
    a = torch.tanh(z)
    e = 2 * (torch.addmm(b2, a, W2) - y)
    dz = torch.mm(e, W2.t()) / torch.cosh(z) ** 2
    k = y.size(1)
    return {
        "b2": e.mean(0) / k,
        "W2": (a[:, :, None] * e[:, None, :]).mean(0) / k,
        "b1": dz.mean(0) / k,
        "W1": (x.unsqueeze(2) * dz.unsqueeze(1)).mean(0) / k,
    }
