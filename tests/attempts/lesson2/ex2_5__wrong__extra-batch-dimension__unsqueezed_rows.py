import torch


def per_sample_gradients(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    rows = {n: [] for n in named}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True, materialize_grads=True)
        for n, g in zip(named, grads):
            rows[n].append(g.unsqueeze(0))
    return {n: torch.stack(r) for n, r in rows.items()}
