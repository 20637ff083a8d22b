import torch


def linear_mse_gradient(w, x, y):
    loss, pull = torch.func.vjp(lambda w: ((x @ w - y) ** 2).mean(), w)
    return pull(torch.ones_like(loss))[0]
