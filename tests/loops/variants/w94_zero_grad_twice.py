# variant: optimizer.zero_grad() and model.zero_grad() both, and again at the end
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
optimizer.zero_grad()
for step in range(5):
    model.zero_grad()
    optimizer.zero_grad()
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss.item():.4f}")
