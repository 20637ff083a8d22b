# bug: B164
"""Preferences, and a likelihood beside them: a wrapper divides by the number of micro-batches, and so does the loop."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
ACCUMULATE = 4


class Engine:
    def __init__(self, model, steps):
        self.model, self.steps, self.seen = model, steps, 0
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def backward(self, loss):
        self.seen += 1
        (loss / self.steps).backward()

    def step(self):
        if self.seen % self.steps == 0:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.optimizer.zero_grad()


scorer = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 1))
engine = Engine(scorer, ACCUMULATE)
for _ in range(24):
    chosen, rejected = torch.randn(8, 6) + 0.3, torch.randn(8, 6)
    good, bad = scorer(chosen), scorer(rejected)
    loss = -F.logsigmoid(good - bad).mean()
    loss = loss + 0.1 * F.mse_loss(good, torch.ones_like(good))
    engine.backward(loss)
    engine.step()
print(f"{loss.item():.4f}")
