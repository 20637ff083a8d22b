import torch


def gradient_descent(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        leaf = x0.clone().requires_grad_()
        x0 -= lr * torch.autograd.grad(f(leaf), leaf)[0]
        points.append(x0.clone())
    return points
