"""Asks autograd first and measures only what autograd cannot see."""

import torch


def numerical_gradient(f, x, h=1e-5):
    leaf = x.detach().clone().requires_grad_()
    value = f(leaf)
    if value.requires_grad:
        return torch.autograd.grad(value, leaf)[0]
    steps = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * h
    return torch.stack([(f(x + s) - f(x - s)) / (2 * h) for s in steps]).reshape(x.shape)
