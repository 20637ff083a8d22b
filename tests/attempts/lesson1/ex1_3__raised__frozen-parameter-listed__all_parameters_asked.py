import torch


def parameter_gradients(model, loss_fn, x, y):
    named = dict(model.named_parameters())
    grads = torch.autograd.grad(loss_fn(model(x), y), list(named.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(named, grads))
