"""All probes at once, as rows of h times the identity."""

import torch


def numerical_gradient(f, x, h=1e-5):
    steps = h * torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape)
    return torch.stack([(f(x + step) - f(x - step)) / (2 * h) for step in steps]).reshape(x.shape)
