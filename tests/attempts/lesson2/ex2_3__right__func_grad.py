import torch


def shared_weight_gradient(w, x, depth):
    def loss(*ws):
        h = x.detach()
        for each in ws:
            h = torch.tanh(each * h)
        return h.sum()

    parts = torch.func.grad(loss, argnums=tuple(range(depth)))(*[w.detach()] * depth)
    parts = torch.stack(parts)
    return parts, parts.sum(0)
