import torch


def shared_weight_gradient(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    signal = torch.ones_like(x)
    contributions = [None] * depth
    for k in reversed(range(depth)):
        signal = signal * (1 - hs[k + 1] ** 2)
        contributions[k] = signal * hs[k]
        signal = signal * w
    return contributions, sum(contributions)
