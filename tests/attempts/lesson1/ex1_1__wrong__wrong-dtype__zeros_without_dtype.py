"""torch.zeros makes float32, whatever x is."""

import torch


def numerical_gradient(f, x, h=1e-5):
    grad = torch.zeros(x.shape)
    for i in range(x.numel()):
        up, down = x.clone().reshape(-1), x.clone().reshape(-1)
        up[i] += h
        down[i] -= h
        grad.view(-1)[i] = (f(up.reshape(x.shape)) - f(down.reshape(x.shape))) / (2 * h)
    return grad
