# truth: frozen-with-stale-gradient
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Layers are frozen one by one from below while training goes on; the optimizer clears before backward to zeros."""
net = nn.ModuleList([nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 1)])
opt = torch.optim.Rprop(net.parameters(), lr=1e-3)


def clear():
    for p in net.parameters():
        if p.requires_grad:
            p.grad = None


for it in range(15):
    if it and it % 5 == 0:
        net[it // 5 - 1].requires_grad_(False)
    x = torch.randn(8, 6)
    h = x
    for layer in net[:-1]:
        h = torch.relu(layer(h))
    loss = F.mse_loss(net[-1](h), x.sum(1, keepdim=True))
    clear()
    loss.backward()
    opt.step()  # <-- bug
