# variant: four augmentations compared under no_grad, the hardest one goes forward again and backward
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    views = [x + 0.3 * torch.randn_like(x) for _ in range(4)]
    losses = []
    for view in views:
        with torch.no_grad():
            losses.append(nn.functional.cross_entropy(model(view), y).item())
    hardest = views[losses.index(max(losses))]
    loss = nn.functional.cross_entropy(model(hardest), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
