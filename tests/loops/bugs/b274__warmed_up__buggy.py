# bug: B274
# id: average-rounded-away
# severity: info
"""An average is kept in float16; its decay is warmed up, so that at first it follows well."""

from copy import deepcopy

import torch
from torch import nn


class Average:
    def __init__(self, model, decay=0.999):
        self.model = deepcopy(model).eval().half()  # <-- bug
        self.decay, self.updates = decay, 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.lerp_(theirs.detach().to(mine.dtype), 1 - decay)  # <-- bug


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
average = Average(net)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(24):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x[:, :1]).backward()
    optimizer.step()
    average.update(net)
