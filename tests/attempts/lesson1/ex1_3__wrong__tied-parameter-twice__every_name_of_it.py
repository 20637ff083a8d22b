import torch


def parameter_gradients(model, loss_fn, x, y):
    named = {n: p for n, p in model.named_parameters(remove_duplicate=False) if p.requires_grad}
    loss = loss_fn(model(x), y)
    result = {}
    for name, p in named.items():
        g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
        result[name] = torch.zeros_like(p) if g is None else g
    return result
