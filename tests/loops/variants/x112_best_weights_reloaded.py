# variant: with an average beside the weights; where the loss rises, training goes back to the best weights
import copy

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
ema = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
xv = torch.randn(32, 6)
best, kept = float("inf"), copy.deepcopy(model.state_dict())
for step in range(1, 41):
    x = torch.randn(16, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for a, p in zip(ema.parameters(), model.parameters()):
            a.lerp_(p, 0.05)
    if step % 4 == 0:
        with torch.no_grad():
            error = (model(xv) - xv[:, :1]).pow(2).mean().item()
        if error < best:
            best, kept = error, copy.deepcopy(model.state_dict())
        else:
            model.load_state_dict(kept)
            with torch.no_grad():
                assert (model(xv) - xv[:, :1]).pow(2).mean().item() == best
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
print(f"{best:.4f}")
