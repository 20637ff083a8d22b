"""Right, and prints each probe: what a learner who is debugging hands in."""

import torch


def numerical_gradient(f, x, h=1e-5):
    print("x has shape", x.shape, "and h is", h)
    grad = torch.zeros_like(x).reshape(-1)
    for i in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        step[i] = h
        grad[i] = (f(x + step.view(x.shape)) - f(x - step.view(x.shape))) / (2 * h)
        print("entry", i, "of", x.numel(), "is", grad[i].item(), "." * 500)
    return grad.reshape(x.shape)
