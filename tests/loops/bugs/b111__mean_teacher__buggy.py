# bug: B111
# id: average-factors-swapped
import copy

import torch
import torch.nn.functional as F
from torch import nn


def make_net():
    return nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))


@torch.no_grad()
def update_teacher(teacher, student, momentum=0.99):
    for t, s in zip(teacher.parameters(), student.parameters()):
        t.mul_(1 - momentum).add_(s, alpha=momentum)  # <-- bug


def main():
    torch.manual_seed(0)
    student = make_net()
    teacher = copy.deepcopy(student).requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
    for step in range(40):
        x, y = torch.randn(16, 10), torch.randint(0, 3, (16,))
        unlabelled = torch.randn(32, 10)
        with torch.no_grad():
            target = teacher(unlabelled + 0.05 * torch.randn_like(unlabelled)).softmax(dim=1)
        answer = student(unlabelled + 0.05 * torch.randn_like(unlabelled)).softmax(dim=1)
        loss = F.cross_entropy(student(x), y) + min(1.0, step / 20) * F.mse_loss(answer, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update_teacher(teacher, student)
    print(f"{loss.item():.4f}")


main()
