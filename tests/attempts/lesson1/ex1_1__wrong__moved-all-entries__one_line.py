import torch


def numerical_gradient(f, x, h=1e-5):
    return torch.full_like(x, ((f(x + h) - f(x - h)) / (2 * h)).item())
