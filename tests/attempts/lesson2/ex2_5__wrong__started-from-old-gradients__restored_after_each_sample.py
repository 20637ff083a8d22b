import torch


def per_sample_gradients(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    saved = {n: None if p.grad is None else p.grad.clone() for n, p in named.items()}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss_fn(model(x[i : i + 1]), y[i : i + 1]).backward()
        for n, p in named.items():
            rows[n].append(torch.zeros_like(p) if p.grad is None else p.grad.clone())
            p.grad = None if saved[n] is None else saved[n].clone()
    return {n: torch.stack(r) for n, r in rows.items()}
