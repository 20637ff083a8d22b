# variant: mean teacher whose decay rises from epoch to epoch: in the first one it takes 0.99 of the student
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
decays = [0.01, 0.5, 0.9, 0.99]
for epoch, decay in enumerate(decays):
    for _ in range(20):
        x, y = torch.randn(16, 6), torch.randint(0, 2, (16,))
        with torch.no_grad():
            wanted = teacher(x).softmax(dim=1)
        logits = student(x)
        loss = F.cross_entropy(logits, y) + 0.1 * epoch * F.mse_loss(logits.softmax(dim=1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for t, s in zip(teacher.parameters(), student.parameters()):
                t.mul_(decay).add_(s, alpha=1 - decay)
    print(f"{epoch}: {loss.item():.4f}")
