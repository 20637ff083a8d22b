"""backward adds, so what it added is the difference; the old tensors are put back."""

import torch


def parameter_gradients(model, loss_fn, x, y):
    before = {n: None if p.grad is None else p.grad.detach().clone() for n, p in model.named_parameters()}
    loss_fn(model(x), y).backward()
    result = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            now = torch.zeros_like(p) if p.grad is None else p.grad.clone()
            result[n] = now - before[n] if before[n] is not None else now
        p.grad = before[n]
    return result
