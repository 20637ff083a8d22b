import torch


def multi_loss_gradients(model, losses, weights):
    named = {n: p for n, p in model.named_parameters() if p.requires_grad}
    result = {n: torch.zeros_like(p) for n, p in named.items()}
    for loss_fn, weight in zip(losses, weights):
        grads = torch.autograd.grad(weight * loss_fn(model), list(named.values()), allow_unused=True)
        for name, g in zip(named, grads):
            if g is not None:
                result[name] = result[name] + g
    return result
