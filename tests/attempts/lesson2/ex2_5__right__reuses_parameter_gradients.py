import torch


def parameter_gradients(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    grads = torch.autograd.grad(loss, list(named.values()), materialize_grads=True, allow_unused=True)
    return dict(zip(named, grads))


def per_sample_gradients(model, loss_fn, x, y):
    samples = [parameter_gradients(model, loss_fn, x[[i]], y[[i]]) for i in range(len(x))]
    return {name: torch.stack([s[name] for s in samples]) for name in samples[0]}
