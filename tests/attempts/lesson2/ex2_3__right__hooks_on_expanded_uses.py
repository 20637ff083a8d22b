import torch


def shared_weight_gradient(w, x, depth):
    leaf = w.detach().clone().requires_grad_()
    seen = {}
    h = x.detach()
    for k in range(depth):
        use = leaf * 1
        use.register_hook(lambda g, k=k: seen.__setitem__(k, g.clone()))
        h = torch.tanh(use * h)
    (total,) = torch.autograd.grad(h.sum(), leaf)
    return tuple(seen[k] for k in range(depth)), total
