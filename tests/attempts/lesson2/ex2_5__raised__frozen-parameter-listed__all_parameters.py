import torch


def per_sample_gradients(model, loss_fn, x, y):
    names, params = zip(*model.named_parameters())
    rows = {n: [] for n in names}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        for n, g in zip(names, torch.autograd.grad(loss, params, allow_unused=True, materialize_grads=True)):
            rows[n].append(g)
    return {n: torch.stack(r) for n, r in rows.items()}
