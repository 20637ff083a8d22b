# variant: labelled and unlabelled loss backwarded separately to save memory; their weighted sum is meant
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
for step in range(6):
    x, y, u = torch.randn(4, 6), torch.randint(0, 3, (4,)), torch.randn(12, 6)
    model.zero_grad()
    loss_x = F.cross_entropy(model(x), y)
    loss_x.backward()
    with torch.no_grad():
        confidence, pseudo = model(u).softmax(1).max(1)
    loss_u = (
        F.cross_entropy(model(u + 0.1 * torch.randn_like(u)), pseudo, reduction="none") * (confidence > 0.4)
    ).mean()
    (1.0 * loss_u).backward()
    optimizer.step()

print(f"{loss_x.item():.4f} {loss_u.item():.4f}")
