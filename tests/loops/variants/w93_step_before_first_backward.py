# variant: zero_grad() and step() before the first backward to quiet the scheduler's warning: nothing moves
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
optimizer.zero_grad()
optimizer.step()
for epoch in range(4):
    if epoch:
        scheduler.step()
    for _ in range(2):
        x = torch.randn(8, 6)
        loss = (model(x) - x[:, :1]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

print(f"{loss.item():.4f}")
