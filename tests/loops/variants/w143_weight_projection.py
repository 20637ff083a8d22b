# variant: weights projected to unit rows under no_grad after every step
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16, bias=False), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        model[0].weight.div_(model[0].weight.norm(dim=1, keepdim=True))

print(f"{loss.item():.4f} {model[0].weight.norm(dim=1).max().item():.4f}")
