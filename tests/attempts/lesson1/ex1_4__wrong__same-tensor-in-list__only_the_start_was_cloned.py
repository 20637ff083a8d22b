import torch


def gradient_descent(f, x0, lr, steps):
    x = x0.clone().requires_grad_()
    points = [x0.clone()]
    for _ in range(steps):
        slope = torch.autograd.grad(f(x), x)[0]
        with torch.no_grad():
            x -= lr * slope
        points.append(x)
    return points
