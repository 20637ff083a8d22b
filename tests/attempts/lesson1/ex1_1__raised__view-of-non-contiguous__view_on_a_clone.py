"""clone keeps the strides, so the clone of a transposed matrix cannot be viewed as flat."""

import torch


def numerical_gradient(f, x, h=1e-5):
    grad = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
    for i in range(x.numel()):
        up, down = x.clone(), x.clone()
        up.view(-1)[i] += h
        down.view(-1)[i] -= h
        grad[i] = (f(up) - f(down)) / (2 * h)
    return grad.reshape(x.shape)
