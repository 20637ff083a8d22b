import torch


def shared_weight_gradient(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach()
    for leaf in leaves:
        h = torch.tanh(leaf * h)
    contributions = [g.sum().item() for g in torch.autograd.grad(h.sum(), leaves)]
    return contributions, sum(contributions)
