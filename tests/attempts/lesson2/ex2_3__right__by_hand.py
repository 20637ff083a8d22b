import torch


def shared_weight_gradient(w, x, depth):
    with torch.no_grad():
        hs = [x]
        for _ in range(depth):
            hs.append(torch.tanh(w * hs[-1]))
        signal = torch.ones_like(x)
        contributions = []
        for k in range(depth, 0, -1):
            before_tanh = signal * (1 - hs[k] ** 2)
            g = before_tanh * hs[k - 1]
            contributions.insert(0, g.sum() if w.dim() == 0 else g)
            signal = before_tanh * w
        return contributions, torch.stack(contributions).sum(0)
