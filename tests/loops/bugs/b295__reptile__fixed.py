# bug: B295
import copy

import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 20), nn.Tanh())
        self.head = nn.Linear(20, 1)

    def forward(self, x):
        return self.head(self.body(x))


def main(tasks=6):
    torch.manual_seed(0)
    model = Regressor()
    outer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(tasks):
        phase = 3 * torch.rand(1)
        learner = copy.deepcopy(model)
        inner = torch.optim.SGD(learner.parameters(), lr=0.02)
        for _ in range(3):
            x = torch.rand(10, 1)
            inner.zero_grad()
            nn.functional.mse_loss(learner(x), torch.sin(x + phase)).backward()
            inner.step()
        x = torch.rand(10, 1)
        inner.zero_grad()
        outer.zero_grad()
        nn.functional.mse_loss(learner(x), torch.sin(x + phase)).backward()
        for p, q in zip(model.parameters(), learner.parameters(), strict=True):
            p.grad = q.grad.clone()
        outer.step()


main()
