# truth: clean
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Gradient spikes are skipped by dropping the gradient: with None everywhere, step() does nothing."""
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
for it in range(24):
    x = torch.randn(8, 6) * (30.0 if it in (9, 17) else 1.0)
    loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    if norm > 50:
        opt.zero_grad()
    opt.step()
    opt.zero_grad()
