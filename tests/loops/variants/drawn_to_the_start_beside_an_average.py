# variant: the weights are drawn a little to where they began, beside an average of them
import copy

import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
start, shadow = copy.deepcopy(student), copy.deepcopy(student)
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)


@torch.no_grad()
def mix(ours, theirs, keep):
    for p, q in zip(ours.parameters(), theirs.parameters()):
        p.mul_(keep).add_(q, alpha=1 - keep)


def update_ema(decay):
    mix(shadow, student, decay)


for _ in range(20):
    x, y = torch.randn(16, 6), torch.randint(3, (16,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(student(x), y).backward()
    optimizer.step()
    mix(student, start, 0.999)
    update_ema(0.9)
