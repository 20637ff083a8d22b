import torch


def numerical_gradient(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            step = torch.zeros_like(x)
            step[i, j] = h
            grad[i, j] = (f(x + step) - f(x - step)) / (2 * h)
    return grad
