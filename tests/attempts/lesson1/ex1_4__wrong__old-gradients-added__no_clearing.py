import torch


def gradient_descent(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x0.clone()]
    for _ in range(steps):
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
        points.append(x.detach().clone())
    return points
