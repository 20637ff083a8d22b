import torch


def shared_weight_gradient(w, x, depth):
    a, b = (w.detach().clone().requires_grad_() for _ in range(2))
    h = torch.tanh(b * torch.tanh(a * x.detach()))
    contributions = torch.autograd.grad(h.sum(), (a, b))
    return contributions, contributions[0] + contributions[1]
