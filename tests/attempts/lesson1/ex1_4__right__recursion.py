import torch


def gradient_descent(f, x0, lr, steps):
    here = x0.detach().clone()
    if steps == 0:
        return [here]
    leaf = here.clone().requires_grad_()
    f(leaf).backward()
    return [here] + gradient_descent(f, here - lr * leaf.grad, lr, steps - 1)
