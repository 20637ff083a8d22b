"""Not derived, but exact: the central difference of a quadratic has no error at any step, and uses no autograd."""

import torch


def linear_mse_gradient(w, x, y):
    def loss(w):
        return ((x @ w - y) ** 2).mean()

    return torch.stack([(loss(w + e) - loss(w - e)) / 2 for e in torch.eye(len(w), dtype=w.dtype, device=w.device)])
