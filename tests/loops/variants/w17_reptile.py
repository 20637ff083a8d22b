# variant: Reptile: a deep copy trained per task, the meta-gradient written into p.grad as the difference of weights
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
meta_optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for it in range(4):
    learner = copy.deepcopy(model)
    inner = torch.optim.SGD(learner.parameters(), lr=0.02)
    phase = torch.rand(()) * 3
    for _ in range(3):
        x = torch.rand(8, 1) * 6 - 3
        inner.zero_grad()
        loss = ((learner(x) - torch.sin(x + phase)) ** 2).mean()
        loss.backward()
        inner.step()
    for p, q in zip(model.parameters(), learner.parameters()):
        if p.grad is None:
            p.grad = torch.zeros_like(p)
        p.grad.data.copy_(p.data - q.data)
    meta_optimizer.step()

print(f"{loss.item():.4f}")
