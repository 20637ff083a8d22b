# variant: SVRG: gradients at the snapshot and at the current weights combined in p.grad before the step
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(24, 6), torch.randn(24, 1)
for epoch in range(2):
    snapshot = copy.deepcopy(model)
    snapshot.zero_grad()
    nn.functional.mse_loss(snapshot(x), y).backward()
    mu = [p.grad.clone() for p in snapshot.parameters()]
    for i in torch.randperm(24).split(8):
        snapshot.zero_grad()
        nn.functional.mse_loss(snapshot(x[i]), y[i]).backward()
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[i]), y[i])
        loss.backward()
        for p, q, m in zip(model.parameters(), snapshot.parameters(), mu):
            p.grad += m - q.grad
        optimizer.step()

print(f"{loss.item():.4f}")
