# variant: a linear decay is made for as many micro-batches as there are, and moves on with each of them
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

settings = SimpleNamespace(accumulation=2, steps=48)


def rate(step):
    return max(0.0, 1 - step / settings.steps)


torch.manual_seed(0)
x = torch.randn(384, 8)
y = x[:, :3].argmax(1)
model = nn.Linear(8, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
for i, (a, b) in enumerate(zip(x.split(8), y.split(8), strict=True), start=1):
    (F.cross_entropy(model(a), b) / settings.accumulation).backward()
    if i % settings.accumulation == 0:
        optimizer.step()
        optimizer.zero_grad()
    schedule.step()
