import torch


def gradient_descent(f, x0, lr, steps):
    x, points = x0.clone(), [x0.tolist()]
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        x = x - lr * torch.autograd.grad(f(leaf), leaf)[0]
        points.append(x.tolist())
    return points
