# variant: the decay of the average begins near 0 and is warmed up by the step, to 0.999
import copy

import torch
from torch import nn


class ModelEma:
    def __init__(self, model, decay=0.999):
        self.module = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay, self.updates = decay, 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        decay = min(self.decay, (self.updates - 1) / (9 + self.updates))
        for k, v in self.module.state_dict().items():
            v.copy_(decay * v + (1.0 - decay) * model.state_dict()[k])


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
ema = ModelEma(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)
with torch.no_grad():
    print(f"{loss.item():.4f} {ema.module(x).norm().item():.4f}")
