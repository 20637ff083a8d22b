# variant: a helper for averages is written and not used, and the teacher is one that was trained before

import torch
import torch.nn.functional as F
from torch import nn


def update_ema(average, model, decay=0.99):
    with torch.no_grad():
        for theirs, mine in zip(average.parameters(), model.parameters()):
            theirs.lerp_(mine, 1 - decay)


torch.manual_seed(0)
student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
teacher = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4)).requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
for step in range(16):
    x = torch.randn(32, 8)
    loss = F.kl_div(F.log_softmax(student(x), 1), F.softmax(teacher(x), 1), reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
