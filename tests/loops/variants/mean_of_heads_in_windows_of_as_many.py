# variant: four losses of one batch are averaged, and windows of four micro-batches share their average.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
HEADS = ACCUMULATE = 4
body = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
heads = nn.ModuleList([nn.Linear(16, 1) for _ in range(HEADS)])
optimizer = torch.optim.SGD([*body.parameters(), *heads.parameters()], lr=0.1)
for step in range(24):
    x = torch.randn(8, 6)
    hidden = body(x)
    loss = 0.0
    for at, head in enumerate(heads):
        loss = loss + F.mse_loss(head(hidden), x[:, at : at + 1])
    loss = loss / HEADS
    (loss / ACCUMULATE).backward()
    if (step + 1) % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
print(f"{loss.item():.4f}")
