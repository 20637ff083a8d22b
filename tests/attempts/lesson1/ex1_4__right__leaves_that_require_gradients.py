"""The points are leaves: they require gradients and have no graph."""

import torch


def gradient_descent(f, x0, lr, steps):
    points = [x0.clone().requires_grad_()]
    for _ in range(steps):
        x = points[-1]
        slope = torch.autograd.grad(f(x), x)[0]
        points.append((x.detach() - lr * slope).requires_grad_())
    return points
