# variant: each of two weighed terms is divided by the window's size, and then they are added
"""Semi-supervised: the loss on unknown rows and that of an adversary, with small weights, beside the known rows."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
iter_size = 3
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
judge = nn.Linear(3, 1).requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(12):
    optimizer.zero_grad()
    for _ in range(iter_size):
        unknown = model(torch.randn(8, 6))
        loss_adv = 0.001 * F.softplus(-judge(unknown.softmax(-1))).mean()
        loss_adv = loss_adv / iter_size
        loss_semi = 0.1 * F.cross_entropy(unknown, unknown.detach().argmax(-1))
        loss_semi = loss_semi / iter_size
        loss_semi += loss_adv
        loss_semi.backward()
        known, labels = model(torch.randn(8, 6)), torch.randint(0, 3, (8,))
        loss = F.cross_entropy(known, labels) + 0.01 * F.softplus(-judge(known.softmax(-1))).mean()
        loss = loss / iter_size
        loss.backward()
    optimizer.step()
