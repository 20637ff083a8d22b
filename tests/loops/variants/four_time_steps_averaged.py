# variant: a cell run for four time steps, their losses summed and divided by four, one backward and one step a batch
import torch
from torch import nn

torch.manual_seed(0)
cell, readout = nn.GRUCell(3, 12), nn.Linear(12, 3)
params = [*cell.parameters(), *readout.parameters()]
optimizer = torch.optim.Adam(params, lr=1e-2)
horizon = 4
for batch in range(10):
    frames = torch.randn(horizon + 1, 6, 3).cumsum(0)
    h = torch.zeros(6, 12)
    total = torch.zeros(())
    for t in range(horizon):
        h = cell(frames[t], h)
        total = total + nn.functional.mse_loss(readout(h), frames[t + 1])
    loss = total / horizon
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(params, 10.0)
    optimizer.step()

print(f"{loss.item():.4f}")
