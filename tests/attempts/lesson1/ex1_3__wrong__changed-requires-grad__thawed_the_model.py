import torch


def parameter_gradients(model, loss_fn, x, y):
    trainable = [n for n, p in model.named_parameters() if p.requires_grad]
    model.requires_grad_(True)
    named = dict(model.named_parameters())
    grads = torch.autograd.grad(loss_fn(model(x), y), [named[n] for n in trainable], allow_unused=True)
    return {n: torch.zeros_like(named[n]) if g is None else g for n, g in zip(trainable, grads)}
