import torch


def linear_mse_gradient(w, x, y):
    def loss(w):
        return ((x @ w - y) ** 2).mean()

    return torch.stack([torch.func.jvp(loss, (w,), (e,))[1] for e in torch.eye(len(w), dtype=w.dtype)])
