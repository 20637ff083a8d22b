# bug: B67
import copy
from itertools import cycle, islice

import torch
from torch import nn


@torch.no_grad()
def update_teacher(teacher, student, momentum):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.lerp_(s, 1.0 - momentum)


def consistency(student, teacher, x):
    with torch.no_grad():
        soft = teacher(x + 0.05 * torch.randn_like(x)).softmax(-1)
    return nn.functional.kl_div(student(x).log_softmax(-1), soft, reduction="batchmean")


def train(student, labelled, unlabelled, steps, accumulation, momentum=0.97):
    teacher = copy.deepcopy(student)
    optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
    labelled, unlabelled = cycle(labelled), cycle(unlabelled)
    for _ in range(steps):
        optimizer.zero_grad()
        for (x, y), u in islice(zip(labelled, unlabelled), accumulation):
            loss = nn.functional.cross_entropy(student(x), y) + 0.5 * consistency(student, teacher, u)
            (loss / accumulation).backward()
        optimizer.step()
        update_teacher(teacher, student, momentum)
    return teacher


torch.manual_seed(5)
student = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 4))
labelled = [(torch.randn(4, 6), torch.randint(0, 4, (4,))) for _ in range(6)]
teacher = train(student, labelled, [torch.randn(8, 6) for _ in range(10)], steps=9, accumulation=4)
print(f"{sum((t - s).norm() for t, s in zip(teacher.parameters(), student.parameters())).item():.4f}")
