import torch


def linear_mse_gradient(w, x, y):
    return torch.func.jacfwd(lambda w: ((x @ w - y) ** 2).mean())(w)
