import torch


def gradient_descent(f, x0, lr, steps):
    x = x0.clone()
    yield x
    for _ in range(steps):
        leaf = x.clone().requires_grad_()
        x = x - lr * torch.autograd.grad(f(leaf), leaf)[0]
        yield x
