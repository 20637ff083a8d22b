# variant: a stem is frozen for good after some epochs
import torch
from torch import nn


def freeze(module):
    for p in module.parameters():
        p.requires_grad = False


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(6):
    if epoch == 2:
        freeze(net[0])
    for _ in range(5):
        x = torch.randn(8, 6)
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
        optimizer.step()
    with torch.no_grad():
        print(net(torch.randn(20, 6)).std().item())
