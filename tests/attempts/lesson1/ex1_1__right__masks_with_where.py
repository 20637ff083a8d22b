"""No indexing: a mask picks the entry that moves."""

import torch


def numerical_gradient(f, x, h=1e-5):
    places = torch.arange(x.numel(), device=x.device).reshape(x.shape)
    total = torch.zeros_like(x)
    for place in range(x.numel()):
        here = places == place
        slope = (f(torch.where(here, x + h, x)) - f(torch.where(here, x - h, x))) / (2 * h)
        total = total + here * slope
    return total
