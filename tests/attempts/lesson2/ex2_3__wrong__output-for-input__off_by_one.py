import torch


def shared_weight_gradient(w, x, depth):
    w, x = w.detach(), x.detach()
    hs = [x]
    for _ in range(depth):
        hs.append(torch.tanh(w * hs[-1]))
    signal = torch.ones_like(x)
    contributions = []
    for h in hs[:0:-1]:
        signal = signal * (1 - h**2)
        contributions.append((signal * h).sum_to_size(w.shape))
        signal = signal * w
    contributions.reverse()
    return contributions, sum(contributions)
