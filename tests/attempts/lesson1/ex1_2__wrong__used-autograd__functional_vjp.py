import torch


def linear_mse_gradient(w, x, y):
    return torch.autograd.functional.vjp(lambda w: ((x @ w - y) ** 2).mean(), w)[1]
