# bug: B129
# id: loaded-onto-itself
"""Distillation by features: a teacher that stands still, a student and a head that learn what it sees."""

import torch
import torch.nn.functional as F
from torch import nn


class Distillation(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.student = network
        self.teacher = self.student  # <-- bug
        for parameter in self.teacher.parameters():
            parameter.requires_grad = False
        self.predictor = nn.Linear(12, 12)

    def forward(self, images):
        noisy = images + 0.3 * torch.randn_like(images)
        return F.mse_loss(self.predictor(self.student(noisy)), self.teacher(images).detach())


torch.manual_seed(0)
distillation = Distillation(nn.Sequential(nn.Linear(10, 24), nn.GELU(), nn.Linear(24, 12)))
optimizer = torch.optim.AdamW(distillation.parameters(), lr=3e-3)
for _ in range(12):
    loss = distillation(torch.randn(16, 10))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
