import torch


def shared_weight_gradient(w, x, depth):
    contributions = []
    h = x.detach()
    for _ in range(depth):
        leaf = w.detach().clone().requires_grad_()
        h = torch.tanh(leaf * h.detach())
        contributions += torch.autograd.grad(h.sum(), leaf)
    return contributions, sum(contributions)
