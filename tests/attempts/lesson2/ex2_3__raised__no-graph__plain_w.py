import torch


def shared_weight_gradient(w, x, depth):
    uses, h = [], x
    for _ in range(depth):
        uses.append(w.clone())
        h = torch.tanh(uses[-1] * h)
    contributions = torch.autograd.grad(h.sum(), uses)
    return contributions, sum(contributions)
