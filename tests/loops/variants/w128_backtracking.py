# variant: backtracking line search: weights put back and stepped again with the same gradient at half the rate
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
x, y = torch.randn(16, 6), torch.randn(16, 1)
halvings = 0
for step in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    saved = [p.detach().clone() for p in model.parameters()]
    optimizer.param_groups[0]["lr"] = 4.0
    while True:
        optimizer.step()
        with torch.no_grad():
            if nn.functional.mse_loss(model(x), y) < loss:
                break
            for p, s in zip(model.parameters(), saved):
                p.copy_(s)
        optimizer.param_groups[0]["lr"] *= 0.5
        halvings += 1

print(f"{loss.item():.4f} {halvings}")
