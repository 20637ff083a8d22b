# bug: B126
# id: layer-replaced-after-optimizer
"""A layer is set anew in the middle of training; the optimizer goes on stepping the parameter that is gone."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
truth = torch.randn(6, 1)

for step in range(24):
    x = torch.randn(16, 6)
    loss = nn.functional.mse_loss(model(x), x @ truth)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 9:
        fresh = torch.randn(24, 6) / 6**0.5
        model[0].weight = nn.Parameter(fresh)  # <-- bug
