# bug: B285
# id: divergence-averaged
# severity: info
"""A student imitates its teacher by a divergence that torch takes the mean of."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher = nn.Linear(6, 10).requires_grad_(False)
student = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 10))
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for _ in range(10):
    x = torch.randn(16, 6)
    logits, wanted = student(x), teacher(x)
    soft = F.kl_div(F.log_softmax(logits / 2, 1), F.softmax(wanted / 2, 1), reduction="mean") * 4  # <-- bug
    loss = F.cross_entropy(logits, wanted.argmax(1)) + soft
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
