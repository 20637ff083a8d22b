# bug: B229
import copy
import math

import torch
from torch import nn


class ModelEMA:
    """Keeps a moving average of everything in the model's state_dict (parameters and buffers)."""

    def __init__(self, model, decay=0.98, tau=10):
        self.ema = copy.deepcopy(model).eval()
        self.updates = 0
        self.decay = lambda x: decay * (1 - math.exp(-x / tau))
        for p in self.ema.parameters():
            p.requires_grad_(False)

    def update(self, model):
        self.updates += 1
        d = self.decay(self.updates)
        msd, esd = model.state_dict(), self.ema.state_dict()
        for k in esd:
            if esd[k].dtype.is_floating_point:
                esd[k].copy_(esd[k] * d + (1 - d) * msd[k].detach())


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.SiLU(), nn.Linear(16, 2))
ema = ModelEMA(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
criterion = nn.SmoothL1Loss()
for epoch in range(3):
    model.train()
    for _ in range(8):
        imgs = torch.randn(16, 6)
        boxes = torch.stack([imgs[:, 0] * imgs[:, 1], imgs.sum(1)], 1)
        loss = criterion(model(imgs), boxes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)
    with torch.no_grad():
        print(epoch, loss.item(), criterion(ema.ema(imgs), boxes).item())
