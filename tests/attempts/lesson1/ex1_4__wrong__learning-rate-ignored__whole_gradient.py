import torch


def gradient_descent(f, x0, lr, steps):
    points = [x0.clone()]
    for _ in range(steps):
        leaf = points[-1].clone().requires_grad_()
        points.append(points[-1] - torch.autograd.grad(f(leaf), leaf)[0])
    return points
