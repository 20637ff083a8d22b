# variant: annealed gradient noise added in place after the last backward and before the step
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(6):
    optimizer.zero_grad()
    for _ in range(2):
        x = torch.randn(8, 6)
        loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean() / 2
        loss.backward()
    sigma = (0.01 / (1 + step) ** 0.55) ** 0.5
    with torch.no_grad():
        for p in model.parameters():
            p.grad.add_(torch.randn_like(p.grad), alpha=sigma)
    optimizer.step()

print(f"{loss.item():.4f}")
