# bug: B97
# id: state-without-graph
import math

import torch
from torch import nn

torch.manual_seed(0)
cell, readout = nn.LSTMCell(1, 12), nn.Linear(12, 1)
optimizer = torch.optim.RMSprop([*cell.parameters(), *readout.parameters()], lr=2e-3)
waves = [torch.sin(torch.linspace(0, 4 * math.pi, 20) + 6 * torch.rand(8, 1)) for _ in range(10)]

for wave in waves:
    hx, cx = torch.zeros(8, 12), torch.zeros(8, 12)
    errors = []
    for t in range(wave.shape[1] - 1):
        hx, cx = cell(wave[:, t : t + 1], (hx.data, cx.data))  # <-- bug
        errors.append((readout(hx) - wave[:, t + 1 : t + 2]).pow(2).mean())
    loss = torch.stack(errors).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
