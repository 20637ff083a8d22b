# bug: B166
"""The losses of several crops are compared with one target, and each but the last is forgotten."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)


class Learner:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
        self.opt = torch.optim.SGD(self.encoder.parameters(), lr=0.2, momentum=0.9)

    def objective(self, crops, target):
        loss = 0.0
        for crop in crops:
            loss = loss + F.mse_loss(self.encoder(crop), target)
        return loss / len(crops)

    def learn(self, clean, parts):
        crops = [clean + 0.1 * torch.randn_like(clean) for _ in range(parts)]
        loss = self.objective(crops, clean[:, :4])
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


learner = Learner()
for _ in range(15):
    value = learner.learn(torch.randn(12, 10), parts=3)
print(f"{value:.4f}")
