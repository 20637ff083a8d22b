"""The helper has no return: the error speaks of NoneType, and no .grad is near."""

import torch


def probe(f, x, i, h):
    moved = x.clone().reshape(-1)
    moved[i] += h
    f(moved.reshape(x.shape))


def numerical_gradient(f, x, h=1e-5):
    slopes = [(probe(f, x, i, h) - probe(f, x, i, -h)) / (2 * h) for i in range(x.numel())]
    return torch.stack(slopes).reshape(x.shape)
