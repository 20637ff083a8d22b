import torch


def parameter_gradients(model, loss_fn, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    return list(torch.autograd.grad(loss_fn(model(x), y), params, allow_unused=True, materialize_grads=True))
