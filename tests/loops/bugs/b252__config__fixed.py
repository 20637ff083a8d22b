# bug: B252
from types import SimpleNamespace

import torch
from torch import nn

args = SimpleNamespace(learning_rate=2e-3, steps=24)
torch.manual_seed(2)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer,
    lambda step: 1 - step / args.steps,
)
for step in range(args.steps):
    x = torch.randn(32, 6)
    loss = (model(x).squeeze(1) - x.sum(1)).pow(2).mean()
    loss.backward()
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
print(f"{loss.item():.4f}")
