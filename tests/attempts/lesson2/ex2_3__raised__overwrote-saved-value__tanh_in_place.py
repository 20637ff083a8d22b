import torch


def shared_weight_gradient(w, x, depth):
    leaves = [w.detach().clone().requires_grad_() for _ in range(depth)]
    h = x.detach().clone()
    for leaf in leaves:
        h *= leaf
        h = h.tanh_()
    contributions = torch.autograd.grad(h.sum(), leaves)
    return contributions, sum(contributions)
