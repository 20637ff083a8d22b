# bug: B266
# id: another-optimizer-stepped
import torch
import torch.nn.functional as F
from torch import nn


def supervised(model, optimizer, batches):
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def distill(student, teacher, optimizer, batches):
    for x, _ in batches:
        with torch.no_grad():
            wanted = teacher(x).softmax(1)
        optimizer.zero_grad()
        loss = F.kl_div(student(x).log_softmax(1), wanted, reduction="batchmean")
        loss.backward()
        optimizer.step()  # <-- bug
    return loss.item()


torch.manual_seed(2)
x = torch.randn(64, 6)
batches = list(zip(x.split(16), x[:, :3].argmax(1).split(16)))
teacher = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
student = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
teacher_optim = torch.optim.SGD(teacher.parameters(), lr=0.1)
student_optim = torch.optim.SGD(student.parameters(), lr=0.1)
supervised(student, student_optim, batches[:2])
for epoch in range(4):
    first = supervised(teacher, teacher_optim, batches)
    second = distill(student, teacher, teacher_optim, batches)  # <-- bug
    print(epoch, f"{first:.4f} {second:.4f}")
