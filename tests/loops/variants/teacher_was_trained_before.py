# variant: a teacher that was trained under its other name, and is frozen since
"""First a network learns, then it is the teacher of a smaller one; one optimizer holds both, as its author wrote it."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
network = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
small = nn.Linear(10, 3)
optimizer = torch.optim.SGD([*network.parameters(), *small.parameters()], lr=0.05)
for _ in range(3):
    rows, labels = torch.randn(16, 10), torch.randint(0, 3, (16,))
    loss = F.cross_entropy(network(rows), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

teacher = network
teacher.requires_grad_(False)
teacher.eval()
for _ in range(12):
    rows = torch.randn(16, 10)
    wanted = teacher(rows).softmax(-1)
    loss = F.kl_div(small(rows).log_softmax(-1), wanted, reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
