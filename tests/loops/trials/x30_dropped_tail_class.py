# truth: tail-dropped
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Windows are filled with islice; a short last one is thrown away by the clear at the start of the next epoch."""
from itertools import islice

data = list(torch.randn(22, 4, 6))
net = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 1))
opt = torch.optim.RAdam(net.parameters(), lr=1e-3)
k = 4
for epoch in range(3):
    opt.zero_grad()  # <-- bug
    source = iter(data)
    while window := list(islice(source, k)):
        for x in window:
            (F.mse_loss(net(x), x.sum(1, keepdim=True)) / k).backward()
        if len(window) == k:  # <-- bug
            opt.step()
            opt.zero_grad()
