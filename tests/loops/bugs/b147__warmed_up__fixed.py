# bug: B147
import copy

import torch
from torch import nn


class ModelEma:
    """A running average whose decay grows while it is young."""

    def __init__(self, model, decay=0.999):
        self.ema, self.decay, self.updates = copy.deepcopy(model).requires_grad_(False), decay, 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for e, p in zip(self.ema.parameters(), model.parameters()):
            e.mul_(decay).add_(p, alpha=1 - decay)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.SiLU(), nn.Linear(24, 3))
ema = ModelEma(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(40):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)
ema.ema.eval()
with torch.no_grad():
    x = torch.randn(64, 6)
    print(f"{(ema.ema(x).argmax(1) == x[:, :3].argmax(1)).float().mean():.2f}")
