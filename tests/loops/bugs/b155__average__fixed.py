# bug: B155
import copy

import torch
import torch.nn.functional as F
from torch import nn


class ModelEMA:
    def __init__(self, model, decay=0.9):
        self.ema, self.decay = copy.deepcopy(model), decay
        self.ema.requires_grad_(False)

    def update(self, model):
        with torch.no_grad():
            msd = model.state_dict()
            for k, ema_v in self.ema.state_dict().items():
                model_v = msd[k].detach()
                ema_v.copy_(ema_v * self.decay + (1.0 - self.decay) * model_v)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
average = ModelEMA(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(24):
    x = torch.randn(16, 6)
    loss = F.cross_entropy(model(x), x[:, :3].argmax(dim=1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model)
x = torch.randn(64, 6)
print(f"{F.cross_entropy(average.ema(x), x[:, :3].argmax(dim=1)):.4f}")
