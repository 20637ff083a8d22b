"""Own leaves with the parameters' values: whatever lands in their .grad is nobody else's."""

import torch


def parameter_gradients(model, loss_fn, x, y):
    leaves = {n: p.detach().clone().requires_grad_() for n, p in model.named_parameters() if p.requires_grad}
    loss_fn(torch.func.functional_call(model, leaves, (x,)), y).backward()
    return {n: torch.zeros_like(leaf) if leaf.grad is None else leaf.grad.detach() for n, leaf in leaves.items()}
