# variant: worst of four augmentations: four losses with graphs, max() picks the one that goes backward
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
for step in range(9):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    losses = []
    for strength in (0.0, 0.1, 0.2, 0.4):
        losses.append(criterion(model(x + strength * torch.randn_like(x)), y))
    loss = max(losses)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
