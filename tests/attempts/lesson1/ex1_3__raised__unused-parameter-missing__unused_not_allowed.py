import torch


def parameter_gradients(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    return dict(zip(named, torch.autograd.grad(loss_fn(model(x), y), list(named.values()))))
