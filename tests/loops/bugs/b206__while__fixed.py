# bug: B206
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
waiting, steps = 0, 0
optimizer.zero_grad()
while steps < 10:
    x, y = torch.randn(8, 6), torch.randint(3, (8,))
    (F.cross_entropy(model(x), y) / 4).backward()
    waiting += 1
    if waiting < 4:
        continue
    optimizer.step()
    optimizer.zero_grad()
    steps += 1
    waiting = 0
print(steps)
