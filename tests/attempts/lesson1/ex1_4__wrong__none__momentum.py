import torch


def gradient_descent(f, x0, lr, steps):
    x, speed, points = x0.clone(), torch.zeros_like(x0), [x0.clone()]
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        speed = 0.9 * speed + torch.autograd.grad(f(leaf), leaf)[0]
        x = x - lr * speed
        points.append(x)
    return points
