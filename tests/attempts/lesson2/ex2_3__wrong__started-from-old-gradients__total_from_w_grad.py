import torch


def shared_weight_gradient(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = torch.autograd.grad(h.sum(), leaves)
    total = torch.zeros_like(contributions[0]) if w.grad is None else w.grad.clone()
    for g in contributions:
        total += g
    return contributions, total
