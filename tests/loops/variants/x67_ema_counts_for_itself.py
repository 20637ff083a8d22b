# variant: ema.update() is called after every micro-batch and acts on every k-th call only, right after the step
import copy

import torch
from torch import nn


class EMA:
    def __init__(self, model, beta, update_every):
        self.online, self.ema = model, copy.deepcopy(model).requires_grad_(False)
        self.beta, self.update_every, self.calls = beta, update_every, 0

    @torch.no_grad()
    def update(self):
        self.calls += 1
        if self.calls % self.update_every != 0:
            return
        for shadow, p in zip(self.ema.parameters(), self.online.parameters()):
            shadow.lerp_(p, 1.0 - self.beta)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulate = 4
ema = EMA(model, beta=0.9, update_every=accumulate)
for i in range(40):
    x, y = torch.randn(8, 6), torch.randint(0, 2, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    (loss / accumulate).backward()
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
    ema.update()

print(f"{loss.item():.4f} after {ema.calls // accumulate} updates")
