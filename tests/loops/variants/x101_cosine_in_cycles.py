# variant: a cosine of two epochs, up and down again over six epochs, stepped once an epoch
import torch
from torch import nn

torch.manual_seed(0)
batches = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(8)]
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
for epoch in range(6):
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
    scheduler.step()
    print(f"loss {loss.item():.3f}")
