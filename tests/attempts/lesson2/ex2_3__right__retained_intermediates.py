import torch


def shared_weight_gradient(w, x, depth):
    """Total from one leaf, contributions from the gradients of each h."""
    v = w.detach().clone().requires_grad_()
    hs = [x.detach().clone().requires_grad_()]
    for _ in range(depth):
        hs.append(torch.tanh(v * hs[-1]))
        hs[-1].retain_grad()
    hs[-1].sum().backward()
    parts = []
    for k in range(depth):
        part = hs[k + 1].grad * (1 - hs[k + 1].detach() ** 2) * hs[k].detach()
        parts.append(part.sum_to_size(w.shape))
    return parts, v.grad
