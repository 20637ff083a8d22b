# bug: B44
from contextlib import nullcontext

import torch
from torch import nn


class Trainer:
    """Waits with the exchange of gradients until a window is whole."""

    def __init__(self, model, steps_per_update):
        self.model = model
        self.steps_per_update = steps_per_update
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)
        self.no_sync = nullcontext

    def fit(self, batches):
        for step, (x, y) in enumerate(batches):
            if (step + 1) % self.steps_per_update != 0:
                with self.no_sync():
                    self.backward(x, y)
            else:
                self.backward(x, y)
                self.opt.step()
                self.opt.zero_grad()

    def backward(self, x, y):
        loss = nn.functional.cross_entropy(self.model(x), y)
        (loss / self.steps_per_update).backward()


torch.manual_seed(1)
batches = [(torch.randn(6, 5), torch.randint(0, 3, (6,))) for _ in range(55)]
Trainer(nn.Linear(5, 3), 5).fit(batches)
