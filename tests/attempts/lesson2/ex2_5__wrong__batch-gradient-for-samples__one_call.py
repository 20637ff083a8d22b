import torch


def per_sample_gradients(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, grads))
