# bug: B172
# id: wrapper-passed-by
import torch
from torch import nn


class ScheduledOptim:
    """Sets the learning rate before each step, as in "Attention is all you need"."""

    def __init__(self, optimizer, size, warmup):
        self._optimizer, self.size, self.warmup, self.steps = optimizer, size, warmup, 0

    def zero_grad(self):
        self._optimizer.zero_grad()

    def step(self):
        self._update_rate()
        self._optimizer.step()

    def _update_rate(self):
        self.steps += 1
        for group in self._optimizer.param_groups:
            group["lr"] = self.size**-0.5 * min(self.steps**-0.5, self.steps * self.warmup**-1.5)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.adam = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98))
        self.optimizer = ScheduledOptim(self.adam, 16, 10)

    def fit(self, data):
        for x, y in data:
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self.model(x), y).backward()
            self.adam.step()  # <-- bug


torch.manual_seed(1)
trainer = Trainer(nn.Sequential(nn.Embedding(11, 16), nn.Flatten(), nn.Linear(64, 11)))
trainer.fit([(x, x[:, 0]) for x in torch.randint(0, 11, (12, 8, 4))])
