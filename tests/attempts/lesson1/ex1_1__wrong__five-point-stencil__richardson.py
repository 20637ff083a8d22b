"""Richardson extrapolation of two central differences: a five-point formula in disguise."""

import torch


def numerical_gradient(f, x, h=1e-5):
    def central(step):
        rows = torch.eye(x.numel(), dtype=x.dtype, device=x.device).reshape(-1, *x.shape) * step
        return torch.stack([(f(x + s) - f(x - s)) / (2 * step) for s in rows]).reshape(x.shape)

    return (4 * central(h / 2) - central(h)) / 3
