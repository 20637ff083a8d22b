# variant: a large first window and single passes after it, each divided by what its own window holds
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for size in (4, 1, 1, 1, 1, 1, 1):
    optimizer.zero_grad()
    for _ in range(size):
        x, y = torch.randn(8, 6), torch.randint(3, (8,))
        (F.cross_entropy(model(x), y) / size).backward()
    optimizer.step()
