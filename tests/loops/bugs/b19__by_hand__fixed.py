# bug: B19
import math

import torch
from torch import nn

torch.manual_seed(5)


class Trainer:
    def __init__(self, net, batches, epochs=3, accumulate=4):
        self.net, self.batches, self.epochs, self.accumulate = net, batches, epochs, accumulate
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
        self.total = epochs * len(batches) // accumulate
        self.step = 0

    def set_rate(self):
        done = min(1.0, self.step / self.total)
        for group in self.optimizer.param_groups:
            group["lr"] = 1e-5 + 0.5 * (1e-3 - 1e-5) * (1 + math.cos(math.pi * done))

    def run(self):
        for _ in range(self.epochs):
            for index, (x, y) in enumerate(self.batches):
                (nn.functional.mse_loss(self.net(x), y) / self.accumulate).backward()
                if (index + 1) % self.accumulate == 0:
                    nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                    self.set_rate()
                    self.optimizer.step()
                    self.step += 1
                    self.optimizer.zero_grad()


net = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
batches = [(x, x.sum(1, keepdim=True)) for x in torch.randn(32, 8, 5)]
Trainer(net, batches).run()
