# bug: B281
"""The average's keeper puts its copy into eval mode."""

import copy

import torch
from torch import nn


class Average:
    def __init__(self, model, decay):
        self.model, self.decay = model, decay
        self.copy = copy.deepcopy(model).requires_grad_(False)
        self.copy.eval()

    @torch.no_grad()
    def update(self):
        for mine, theirs in zip(self.copy.parameters(), self.model.parameters()):
            mine.lerp_(theirs, 1 - self.decay)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.3), nn.Linear(24, 3))
average = Average(net, 0.9)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for _ in range(12):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update()
with torch.no_grad():
    print(average.copy(torch.randn(4, 6)).argmax(1))
