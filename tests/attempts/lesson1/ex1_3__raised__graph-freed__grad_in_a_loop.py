"""One graph for all parameters, freed by the first question."""

import torch


def parameter_gradients(model, loss_fn, x, y):
    loss = loss_fn(model(x), y)
    return {n: torch.autograd.grad(loss, p)[0] for n, p in model.named_parameters() if p.requires_grad}
