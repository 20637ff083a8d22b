# bug: B160
"""Shadow weights by name."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
shadow = {name: p.detach().clone() for name, p in net.named_parameters()}
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
beta = 0.995
for it in range(48):
    x = torch.randn(24, 6)
    loss = F.cross_entropy(net(x), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for name, p in net.named_parameters():
            shadow[name] = beta * shadow[name] + (1 - beta) * p
    if it % 12 == 11:
        print(it, loss.item(), shadow["0.weight"].norm().item())
