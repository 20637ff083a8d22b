import torch


def gradient_descent(f, x0, lr, steps):
    x, slopes = x0.clone(), []
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        slopes.append(torch.autograd.grad(f(leaf), leaf)[0])
        x = x - lr * slopes[-1]
    return slopes
