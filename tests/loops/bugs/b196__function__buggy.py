# bug: B196
# id: weights-drawn-back
import copy

import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)


@torch.no_grad()
def update_ema(target, source, decay):
    for t, s in zip(target.parameters(), source.parameters()):
        t.mul_(decay).add_(s, alpha=1 - decay)


for _ in range(20):
    x, y = torch.randn(16, 6), torch.randint(3, (16,))
    logits = student(x)
    with torch.no_grad():
        soft = teacher(x).softmax(-1)
    loss = nn.functional.cross_entropy(logits, y) + nn.functional.cross_entropy(logits, soft)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_ema(student, teacher, 0.99)  # <-- bug
