import torch


def gradient_descent(f, x0, lr, steps):
    leaf = x0.clone().requires_grad_()
    slope = torch.autograd.grad(f(leaf), leaf)[0]
    points = [x0.clone()]
    for _ in range(steps):
        points.append(points[-1] - lr * slope)
    return points
