# variant: two calls of clipping, one for each part: one part is a frozen copy, and has no gradients
import copy

import torch
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
teacher = copy.deepcopy(student).requires_grad_(False)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for x in torch.randn(8, 16, 4):
    loss = nn.functional.mse_loss(student(x), teacher(x) + 1)
    optimizer.zero_grad()
    loss.backward()
    for part in (teacher, student):
        nn.utils.clip_grad_norm_(part.parameters(), 0.1)
    optimizer.step()
