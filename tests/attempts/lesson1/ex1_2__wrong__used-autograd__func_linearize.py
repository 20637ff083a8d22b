import torch


def linear_mse_gradient(w, x, y):
    _, push = torch.func.linearize(lambda w: ((x @ w - y) ** 2).mean(), w)
    return torch.stack([push(e) for e in torch.eye(len(w), dtype=w.dtype)])
