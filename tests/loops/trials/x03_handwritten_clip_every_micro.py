# truth: clipped-every-micro-batch
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Clipping written by hand, in the micro-batch loop."""


def clip_(params, limit):
    grads = [p.grad for p in params if p.grad is not None]  # <-- bug
    norm = torch.stack([g.norm() for g in grads]).norm()
    if norm > limit:
        for g in grads:
            g.mul_(limit / (norm + 1e-6))  # <-- bug
    return norm


k = 4
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=1e-1)
for it in range(8):
    opt.zero_grad()
    for m in range(k):
        x = torch.randn(8, 6) * 3
        (F.mse_loss(net(x), x.sum(1, keepdim=True)) / k).backward()
        clip_(net.parameters(), 0.5)  # <-- bug
    opt.step()
