import torch


def linear_mse_gradient(w, x, y):
    w = w.clone().requires_grad_()
    return torch.autograd.grad(((x @ w - y) ** 2).mean(), w)[0]
