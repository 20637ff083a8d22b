# bug: B136
# id: guard-skips-window-end
import random

import torch
from torch import nn

torch.manual_seed(0)
random.seed(3)
ACCUMULATE = 4
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
seen = 0
for micro in range(94):
    x = torch.randn(4, 6)
    y = torch.full((4,), -100) if random.random() < 0.25 else x[:, :3].argmax(1)
    if (y == -100).all():
        continue  # <-- bug
    seen += 1
    loss = nn.functional.cross_entropy(model(x), y, ignore_index=-100)
    (loss / ACCUMULATE).backward()
    if (micro + 1) % ACCUMULATE == 0:  # <-- bug
        optimizer.step()
        optimizer.zero_grad()
