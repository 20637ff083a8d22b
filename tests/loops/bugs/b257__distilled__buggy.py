# bug: B257
# id: teacher-in-train-mode
import torch
import torch.nn.functional as F
from torch import nn


def network(width):
    return nn.Sequential(nn.Linear(6, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 4))


torch.manual_seed(0)
teacher, student = network(48), network(12)
for p in teacher.parameters():
    p.requires_grad = False
optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
x, y = torch.randn(96, 6), torch.randint(4, (96,))
T = 3.0
for epoch in range(4):
    for a, b in zip(x.split(16), y.split(16)):
        with torch.no_grad():
            soft = F.softmax(teacher(a) / T, dim=1)  # <-- bug
        out = student(a)
        kd = F.kl_div(F.log_softmax(out / T, dim=1), soft, reduction="batchmean") * T * T
        loss = 0.7 * kd + 0.3 * F.cross_entropy(out, b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
