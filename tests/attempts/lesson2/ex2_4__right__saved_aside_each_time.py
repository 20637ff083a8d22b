import torch


def multi_loss_gradients(model, losses, weights):
    total = {p: torch.zeros_like(p) for p in model.parameters() if p.requires_grad}
    for loss_fn, weight in zip(losses, weights):
        model.zero_grad()
        loss_fn(model).backward()
        for p in total:
            if p.grad is not None:
                total[p] += weight * p.grad
    model.zero_grad()
    for p, g in total.items():
        p.grad = g.clone()
