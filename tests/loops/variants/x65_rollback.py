# variant: weights and optimizer are put back to the last good snapshot whenever a step has made them nan
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
snapshot = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
rollbacks = 0
for step in range(12):
    x = torch.randn(8, 6)
    y = x.prod(1, keepdim=True)
    if step in (4, 9):
        y[0] = float("inf")
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if all(p.isfinite().all() for p in model.parameters()):
        snapshot = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    else:
        rollbacks += 1
        model.load_state_dict(snapshot[0])
        optimizer.load_state_dict(snapshot[1])

print(f"{loss.item():.4f}, {rollbacks} rollbacks")
