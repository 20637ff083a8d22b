# variant: a sum of passes is looked at after each of them; what the last look computed from it is written over it
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(8):
    optimizer.zero_grad()
    norms = []
    for x in torch.randn(3, 8, 4):
        ((model(x) - x.sum(1, keepdim=True)) ** 2).mean().div(3).backward()
        norms.append(sum(p.grad.norm().item() ** 2 for p in model.parameters()) ** 0.5)
    for p in model.parameters():
        bounded = p.grad / max(1.0, norms[-1])
        p.grad.copy_(bounded)
    optimizer.step()
