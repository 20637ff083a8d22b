import torch


def parameter_gradients(model, loss_fn, x, y):
    before = {n: p.grad for n, p in model.named_parameters()}
    loss_fn(model(x), y).backward()
    result = {}
    for n, p in model.named_parameters():
        if p.requires_grad:
            now = p.grad if p.grad is not None else torch.zeros_like(p)
            result[n] = now.clone() if before[n] is None else now - before[n]
    return result
