# bug: B79
import torch
from torch import nn

torch.manual_seed(0)
parts = 4
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
sizes = [16, 16, 16, 12] * 3
for size in sizes:
    x, y = torch.randn(size, 6), torch.randn(size, 1)
    optimizer.zero_grad()
    for xs, ys in zip(x.split(4), y.split(4)):
        loss = nn.functional.mse_loss(model(xs), ys) / parts
        loss.backward()
    optimizer.step()
