# bug: B168
"""A schedule of its own kind, moved on in the loop that gathers micro-batches."""

import torch
import torch.nn.functional as F
from torch import nn


class Noam:
    def __init__(self, optimizer, width, warmup):
        self.optimizer, self.width, self.warmup, self.steps = optimizer, width, warmup, 0

    def rate(self):
        return self.width**-0.5 * min(self.steps**-0.5, self.steps * self.warmup**-1.5)

    def step(self):
        self.steps += 1
        for group in self.optimizer.param_groups:
            group["lr"] = 0.1 * self.rate()


class Trainer:
    def __init__(self, model, parts):
        self.model, self.parts = model, parts
        self.optimizer = torch.optim.Adam(model.parameters(), lr=0.0, betas=(0.9, 0.98))
        self.schedule = Noam(self.optimizer, width=16, warmup=6)

    def update(self, batches):
        self.optimizer.zero_grad()
        for x in batches:
            loss = F.mse_loss(self.model(x), x.flip(1)) / self.parts
            loss.backward()
        self.schedule.step()
        self.optimizer.step()
        return loss.item() * self.parts


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 6)), parts=3)
for _ in range(14):
    value = trainer.update([torch.randn(8, 6) for _ in range(3)])
print(f"{value:.4f}")
