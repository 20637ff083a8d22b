"""A training step where only the gradients were asked."""

import torch


def parameter_gradients(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    with torch.no_grad():
        for p, g in zip(named.values(), grads):
            p -= 0.01 * g
    return dict(zip(named, grads))
