# bug: B67
# id: average-every-micro-batch
# severity: info
import copy

import torch
from torch import nn

torch.manual_seed(1)


class Averager:
    def __init__(self, net, every):
        self.net, self.average, self.every, self.step_count = net, copy.deepcopy(net), every, 0

    def step(self):
        self.step_count += 1
        if self.step_count % self.every == 0:
            kept = self.average.state_dict()
            for name, value in self.net.state_dict().items():
                kept[name] = 0.9 * kept[name] + 0.1 * value
            self.average.load_state_dict(kept)


class Run:
    def __init__(self, net, micro_batches):
        self.net, self.micro_batches = net, micro_batches
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
        self.ema = Averager(net, every=25)

    def losses(self, batch):
        inputs, labels = batch
        return nn.functional.cross_entropy(self.net(inputs), labels)

    def train_micro_batch(self, batch):
        (self.losses(batch) / self.micro_batches).backward()

    def fit(self, batches):
        for number, batch in enumerate(batches, 1):
            self.train_micro_batch(batch)
            if number % self.micro_batches == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
            self.ema.step()  # <-- bug


run = Run(nn.Linear(7, 3), 4)
run.fit([(torch.randn(5, 7), torch.randint(0, 3, (5,))) for _ in range(80)])
