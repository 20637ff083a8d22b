# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Iterative magnitude pruning: each round's mask is inside the last one's, and keeps pruned weights at zero."""
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
weights = [net[0].weight, net[2].weight]
for rnd in range(4):
    for w in weights:
        cut = w.detach().abs().flatten().kthvalue(max(1, int(w.numel() * 0.2 * (rnd + 1) * 0.8))).values
        mask = (w.detach().abs() > cut).float()
        with torch.no_grad():
            w.mul_(mask)
        w.register_hook(lambda g, m=mask: g * m)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for it in range(4):
        x = torch.randn(8, 6)
        opt.zero_grad()
        F.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
        opt.step()
print(sum((w == 0).sum().item() for w in weights))
