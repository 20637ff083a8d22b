# variant: elastic averaging (EASGD): workers that train are pulled towards a centre, and the centre towards them
import copy

import torch
from torch import nn


class Worker:
    def __init__(self, centre, number):
        self.model = copy.deepcopy(centre).requires_grad_(True)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.generator = torch.Generator().manual_seed(number)

    def step(self):
        x = torch.randn(16, 4, generator=self.generator)
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.model(x), x.sum(1, keepdim=True)).backward()
        self.optimizer.step()

    @torch.no_grad()
    def exchange(self, centre, alpha=0.2):
        for p, c in zip(self.model.parameters(), centre.parameters()):
            before = p.clone()
            p.lerp_(c, alpha)
            c.lerp_(before, alpha)


torch.manual_seed(0)
centre = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).requires_grad_(False)
workers = [Worker(centre, n) for n in range(2)]
for round in range(7):
    for worker in workers:
        worker.step()
        worker.exchange(centre)
