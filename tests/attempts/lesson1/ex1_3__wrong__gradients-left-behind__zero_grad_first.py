import torch


def parameter_gradients(model, loss_fn, x, y):
    model.zero_grad()
    loss_fn(model(x), y).backward()
    return {
        n: p.grad if p.grad is not None else torch.zeros_like(p) for n, p in model.named_parameters() if p.requires_grad
    }
