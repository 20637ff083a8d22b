import torch


def numerical_gradient(f, x, h=1e-5):
    grad = torch.zeros_like(x)
    flat = grad.reshape(-1)
    for i in range(x.numel()):
        moved = x.clone().reshape(-1)
        moved[i] += h
        flat[i] = (f(moved.reshape(x.shape)) - f(x)) / h
    return flat.reshape(x.shape)
