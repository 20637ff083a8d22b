# variant: each cycle goes on from the average, which is evaluated first, with an empty state of the optimizer
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
average = [p.detach().clone() for p in net.parameters()]
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(64, 8)
y = x.sum(1, keepdim=True)
for cycle in range(5):
    optimizer.state = defaultdict(dict)
    for _ in range(12):
        optimizer.zero_grad()
        F.mse_loss(net(x), y).backward()
        optimizer.step()
        with torch.no_grad():
            for slow, p in zip(average, net.parameters(), strict=True):
                slow.lerp_(p, 0.1)
    with torch.no_grad():
        for slow, p in zip(average, net.parameters(), strict=True):
            p.copy_(slow)
        print(cycle, F.mse_loss(net(x), y).item())
