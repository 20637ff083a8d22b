import torch


def multi_loss_gradients(model, losses, weights):
    params = [p for p in model.parameters() if p.requires_grad]
    fresh = {}
    for loss_fn, weight in zip(losses, weights):
        grads = torch.autograd.grad(weight * loss_fn(model), params, allow_unused=True)
        for p, g in zip(params, grads):
            if g is not None:
                fresh[p] = fresh[p] + g if p in fresh else g
    for p, g in fresh.items():
        p.grad = g
