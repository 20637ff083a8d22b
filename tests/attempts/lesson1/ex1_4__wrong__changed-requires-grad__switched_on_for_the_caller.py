import torch


def gradient_descent(f, x0, lr, steps):
    x0.requires_grad_()
    points = [x0.detach().clone()]
    x = x0
    for _ in range(steps):
        slope = torch.autograd.grad(f(x), x)[0]
        x = (x - lr * slope).detach().requires_grad_()
        points.append(x)
    return points
