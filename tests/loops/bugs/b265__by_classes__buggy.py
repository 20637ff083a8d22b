# bug: B265
# id: sum-beside-means
"""Of two sums one is divided by the rows, and the other by the classes alone; its weight grows."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
student, teacher = nn.Linear(6, 5), nn.Linear(6, 5).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
for step in range(40):
    x = torch.randn(16, 6)
    weight = min(1.0, 0.002 * 2**step)
    logits, wanted = student(x), teacher(x)
    known = F.cross_entropy(logits, wanted.argmax(1), reduction="sum") / len(x)
    same = weight * F.mse_loss(logits.softmax(1), wanted.softmax(1), reduction="sum") / 5  # <-- bug
    loss = known + same  # <-- bug
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
