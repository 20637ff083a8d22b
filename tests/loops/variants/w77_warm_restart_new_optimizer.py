# variant: the optimizer made anew for every cycle on the same model, its state dropped on purpose
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
for cycle in range(3):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2 * 0.5**cycle)
    for step in range(3):
        x = torch.randn(8, 6)
        optimizer.zero_grad()
        loss = (model(x) - x[:, :1]).pow(2).mean()
        loss.backward()
        optimizer.step()

print(f"{loss.item():.4f}")
