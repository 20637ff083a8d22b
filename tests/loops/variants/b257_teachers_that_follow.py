# variant: a mean teacher runs in train mode, as what it follows, and a fixed teacher has no dropout
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
teacher = copy.deepcopy(student).requires_grad_(False)
fixed_teacher = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 3)).requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
x, y = torch.randn(80, 6), torch.randint(3, (80,))
for epoch in range(3):
    for a, b in zip(x.split(16), y.split(16)):
        out = student(a + 0.05 * torch.randn_like(a))
        with torch.no_grad():
            wanted = teacher(a + 0.05 * torch.randn_like(a)).softmax(1)
            fixed = fixed_teacher(a)
        loss = F.cross_entropy(out, b) + F.mse_loss(out.softmax(1), wanted) + 0.1 * F.mse_loss(out, fixed)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for old, new in zip(teacher.parameters(), student.parameters()):
                old.mul_(0.99).add_(new, alpha=0.01)
