# bug: B05
# id: zeroed-inside-window
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce

MICRO_BATCHES = 4


class Accelerator:
    """Divides each loss, and lets steps and clears through once in so many micro-batches."""

    def __init__(self, every):
        self.every, self.seen, self.last = every, 0, False

    def prepare(self, optimizer):
        return Prepared(optimizer, self)

    @contextmanager
    def accumulate(self):
        self.seen += 1
        self.last = self.seen % self.every == 0
        yield

    def backward(self, loss):
        (loss / self.every).backward()


class Prepared:
    def __init__(self, optimizer, accelerator):
        self.optimizer, self.accelerator = optimizer, accelerator

    def step(self):
        if self.accelerator.last:
            self.optimizer.step()

    def zero_grad(self):
        if self.accelerator.last:
            self.optimizer.zero_grad()


torch.manual_seed(0)
accelerator = Accelerator(MICRO_BATCHES)
generator = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
critic = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
for_generator = accelerator.prepare(torch.optim.Adam(generator.parameters(), lr=1e-3))
for_critic = accelerator.prepare(torch.optim.Adam(critic.parameters(), lr=1e-3))
ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)

for _ in range(40):
    with accelerator.accumulate():
        real = torch.randn(16, 16)
        fake = generator(torch.randn(16, 8))
        accelerator.backward(bce(critic(fake), ones))
        for_generator.step()
        for_generator.zero_grad()
        for_critic.zero_grad()  # <-- bug
        judged = bce(critic(real), ones) + bce(critic(fake.detach()), zeros)
        accelerator.backward(judged)
        for_critic.step()
        for_critic.zero_grad()
