# bug: B270
# id: average-once-an-epoch
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class EMA:
    def __init__(self, model, decay):
        self.module, self.decay = copy.deepcopy(model).eval().requires_grad_(False), decay

    @torch.no_grad()
    def update(self, model):
        for average, param in zip(self.module.parameters(), model.parameters()):
            average.mul_(self.decay).add_(param, alpha=1 - self.decay)


torch.manual_seed(0)
images = torch.randn(48, 1, 6, 6)
loader = DataLoader(TensorDataset(images, (images.mean((1, 2, 3)) > 0).long()), batch_size=12, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))
ema = EMA(model, 0.995)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(6):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ema.update(model)  # <-- bug
    with torch.no_grad():
        right = (ema.module(images).argmax(1) == (images.mean((1, 2, 3)) > 0)).float().mean()
    print(epoch, f"{loss.item():.4f} {right.item():.2f}")
