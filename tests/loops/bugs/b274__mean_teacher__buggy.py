# bug: B274
# id: average-rounded-away
import copy

import torch
import torch.nn.functional as F
from torch import nn


def net():
    return nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3))


@torch.no_grad()
def update_teacher(teacher, student, keep=0.999):
    for old, new in zip(teacher.parameters(), student.parameters()):
        old.mul_(keep).add_(new, alpha=1 - keep)  # <-- bug


torch.manual_seed(3)
student = net()
teacher = copy.deepcopy(student).to(torch.bfloat16)  # <-- bug
teacher.requires_grad_(False)
optimizer = torch.optim.AdamW(student.parameters(), lr=0.02)
for step in range(24):
    x, unlabeled = torch.randn(16, 6), torch.randn(16, 6)
    guess = teacher(unlabeled.to(torch.bfloat16)).float().softmax(1)
    loss = F.cross_entropy(student(x), x[:, :3].argmax(1)) + F.mse_loss(student(unlabeled).softmax(1), guess)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_teacher(teacher, student)
