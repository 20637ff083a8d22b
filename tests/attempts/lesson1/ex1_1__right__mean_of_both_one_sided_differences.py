"""The average of the forward and the backward difference is the central one."""

import torch


def numerical_gradient(f, x, h=1e-5):
    middle = f(x)
    slopes = []
    for i in range(x.numel()):
        step = torch.nn.functional.one_hot(torch.tensor(i), x.numel()).to(x) * h
        step = step.reshape(x.shape)
        forward = (f(x + step) - middle) / h
        backward = (middle - f(x - step)) / h
        slopes.append((forward + backward) / 2)
    return torch.stack(slopes).reshape(x.shape)
