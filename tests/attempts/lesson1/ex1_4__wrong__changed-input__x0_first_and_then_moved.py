"""x0 stands first in the list and is then moved: at the end the list begins with the last point."""

import torch


def gradient_descent(f, x0, lr, steps):
    x, points = x0, [x0]
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        x -= lr * torch.autograd.grad(f(leaf), leaf)[0]
        points.append(x.clone())
    return points
