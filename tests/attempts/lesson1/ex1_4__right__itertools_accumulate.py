from itertools import accumulate

import torch


def gradient_descent(f, x0, lr, steps):
    def step(x, _):
        leaf = x.detach().requires_grad_()
        return (leaf - lr * torch.autograd.grad(f(leaf), leaf)[0]).detach()

    return list(accumulate(range(steps), step, initial=x0))
