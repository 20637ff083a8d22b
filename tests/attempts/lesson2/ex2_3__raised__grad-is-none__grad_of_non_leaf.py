import torch


def shared_weight_gradient(w, x, depth):
    leaf = w.detach().clone().requires_grad_()
    uses, h = [], x.detach()
    for _ in range(depth):
        uses.append(leaf.clone())
        h = torch.tanh(uses[-1] * h)
    h.sum().backward()
    return [u.grad for u in uses], sum(u.grad for u in uses)
