# bug: B130
# id: clipped-another-model
import copy

import torch
from torch import nn

torch.manual_seed(0)


class Average:
    def __init__(self, model, decay=0.9):
        self.model, self.decay = copy.deepcopy(model).requires_grad_(False), decay

    @torch.no_grad()
    def update(self, model):
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.lerp_(theirs, 1 - self.decay)


model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
average = Average(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for x in torch.randn(8, 16, 4):
    loss = nn.functional.mse_loss(model(x), 3 * x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(average.model.parameters(), 0.5)  # <-- bug
    optimizer.step()
    average.update(model)
