# bug: B84
import torch
import torch.nn.functional as F
from torch import nn


class SetRegressor(nn.Module):
    """A set of any size becomes one vector, so the sets go through the encoder one by one."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(3, 12), nn.Tanh())
        self.decoder = nn.Linear(12, 1)

    def forward(self, sets):
        pooled = []
        for points in sets:
            pooled.append(self.encoder(points).mean(0))
        h = torch.stack(pooled)
        return self.decoder(h)


torch.manual_seed(1)
model = SetRegressor()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = []
for _ in range(10):
    sets = [torch.randn(int(n), 3) for n in torch.randint(2, 6, (5,))]
    batches.append((sets, torch.stack([s.max().reshape(1) for s in sets])))

for sets, target in batches:
    optimizer.zero_grad()
    loss = F.mse_loss(model(sets), target)
    loss.backward()
    optimizer.step()
print(loss.item())
