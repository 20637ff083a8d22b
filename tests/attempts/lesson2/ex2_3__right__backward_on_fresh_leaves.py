import torch


def shared_weight_gradient(w, x, depth):
    copies = []
    h = x.detach().clone()
    for _ in range(depth):
        copy = torch.tensor(w.tolist(), dtype=w.dtype, device=w.device, requires_grad=True)
        copies.append(copy)
        h = (copy * h).tanh()
    h.sum().backward()
    contributions = [c.grad for c in copies]
    total = torch.zeros_like(contributions[0])
    for c in contributions:
        total += c
    return contributions, total
