"""The tensors in .grad are taken off, and the very same ones are hung back."""

import torch


def parameter_gradients(model, loss_fn, x, y):
    held = [p.grad for p in model.parameters()]
    for p in model.parameters():
        p.grad = None
    try:
        loss_fn(model(x), y).backward()
        return {
            name: torch.zeros_like(p) if p.grad is None else p.grad
            for name, p in model.named_parameters()
            if p.requires_grad
        }
    finally:
        for p, g in zip(model.parameters(), held):
            p.grad = g
