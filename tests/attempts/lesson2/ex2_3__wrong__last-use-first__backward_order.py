import torch


def shared_weight_gradient(w, x, depth):
    with torch.no_grad():
        hs = [x]
        for _ in range(depth):
            hs.append(torch.tanh(w * hs[-1]))
        signal = torch.ones_like(x)
        contributions = []
        for k in range(depth, 0, -1):
            signal = signal * (1 - hs[k] ** 2)
            contributions.append((signal * hs[k - 1]).sum_to_size(w.shape))
            signal = signal * w
    return contributions, sum(contributions)
