import torch


def shared_weight_gradient(w, x, depth):
    leaf = w.detach().clone().requires_grad_()
    h = x.detach()
    for _ in range(depth):
        h = torch.tanh(leaf * h)
    h.sum().backward()
    return [leaf.grad / depth] * depth, leaf.grad
