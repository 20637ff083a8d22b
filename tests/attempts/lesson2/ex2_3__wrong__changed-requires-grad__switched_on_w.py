import torch


def shared_weight_gradient(w, x, depth):
    w.requires_grad_()
    uses = []
    h = x.detach()
    for _ in range(depth):
        use = w.clone()
        uses.append(use)
        h = torch.tanh(use * h)
    contributions = torch.autograd.grad(h.sum(), uses)
    return contributions, sum(contributions)
