import torch


def per_sample_gradients(model, loss_fn, x, y):
    params = [p for p in model.parameters() if p.requires_grad]
    losses = torch.stack([loss_fn(model(x[i : i + 1]), y[i : i + 1]) for i in range(len(x))])
    grads = torch.autograd.grad(losses.expand(2, len(x)), params)
    return grads
