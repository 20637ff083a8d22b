# bug: B222
import copy

import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.net = nn.Linear(5, 3)
        self.shadow = copy.deepcopy(self.net).requires_grad_(False)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05)

    @torch.no_grad()
    def update_ema(self, keep=0.95):
        for old, new in zip(self.shadow.parameters(), self.net.parameters()):
            old.mul_(keep).add_((1 - keep) * new)

    def fit(self, batches, every=2):
        for number, (x, y) in enumerate(batches):
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self.net(x), y).backward()
            self.optimizer.step()
            if number % every == every - 1:
                self.update_ema()


torch.manual_seed(1)
Trainer().fit([(torch.randn(12, 5), torch.randint(3, (12,))) for _ in range(80)])
