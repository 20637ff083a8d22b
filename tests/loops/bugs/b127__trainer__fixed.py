# bug: B127
"""A trainer that takes the mean, and whose hook before the step then clips."""

import torch
import torch.nn.functional as F
from torch import nn


class Clip:
    def __init__(self, limit):
        self.limit = limit

    def before_step(self, trainer):
        nn.utils.clip_grad_value_(trainer.model.parameters(), self.limit)


class Trainer:
    def __init__(self, model, micro_batches, callbacks):
        self.model, self.k, self.callbacks = model, micro_batches, callbacks
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def train(self, batches):
        for number, (x, y) in enumerate(batches, 1):
            F.cross_entropy(self.model(x), y, reduction="sum").backward()
            if number % self.k == 0:
                self.update()

    def update(self):
        with torch.no_grad():
            grads = [p.grad for p in self.model.parameters()]
            torch._foreach_div_(grads, self.k)
        for callback in self.callbacks:
            callback.before_step(self)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


torch.manual_seed(0)
data = [(x := torch.randn(6, 8), x[:, :3].argmax(1)) for _ in range(18)]
Trainer(nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 3)), 3, [Clip(0.05)]).train(data)
