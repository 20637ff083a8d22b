# truth: hook-registered-every-iteration
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Gradient scaling by post-accumulate hooks, put on anew in each iteration."""
net = nn.Sequential(nn.Conv1d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(24, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


def halve(p):
    p.grad.mul_(0.5)


for it in range(10):
    for p in net[0].parameters():
        p.register_post_accumulate_grad_hook(halve)  # <-- bug
    x = torch.randn(8, 2, 8)
    opt.zero_grad()
    F.mse_loss(net(x), x.mean((1, 2)).unsqueeze(1)).backward()
    opt.step()
