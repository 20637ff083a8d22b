# truth: zeroed-once-per-epoch
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Micro-batches come out of a generator which also prepares the optimizer, once a pass."""


def batches(opt, data, size):
    opt.zero_grad()  # <-- bug
    for rows in torch.randperm(len(data)).split(size):
        yield data[rows]


data = torch.randn(40, 6)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adadelta(net.parameters(), lr=0.5)
for epoch in range(4):
    for xb in batches(opt, data, 8):
        loss = F.mse_loss(net(xb), xb.sum(1, keepdim=True))
        loss.backward()
        opt.step()
