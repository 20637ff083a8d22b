import torch


def per_sample_gradients(model, loss_fn, x, y):
    out = {n: torch.zeros(len(x), *p.shape, dtype=p.dtype, device=p.device) for n, p in model.named_parameters()}
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    for i in range(len(x)):
        loss = loss_fn(model(x[i : i + 1]), y[i : i + 1])
        grads = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
        for n, g in zip(named, grads):
            if g is not None:
                out[n][i] = g
    return out
