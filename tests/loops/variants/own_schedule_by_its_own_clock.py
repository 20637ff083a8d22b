# variant: schedules of the user's own: one moves on with each batch, where a step is due now and then; one is set.
import torch
import torch.nn.functional as F
from torch import nn


class Decay:
    def __init__(self, optimizer, total):
        self.optimizer, self.total, self.now = optimizer, total, 0

    def step(self):
        self.now += 1
        for group in self.optimizer.param_groups:
            group["lr"] = 0.1 * max(0.0, 1 - self.now / self.total)


def batch():
    x = torch.randn(8, 4)
    return x, x.sum(1, keepdim=True)


torch.manual_seed(0)
updates, parts = 12, 4
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = Decay(optimizer, 1000)
for number in range(updates * parts):
    x, y = batch()
    loss = F.mse_loss(model(x), y)
    (loss / parts).backward()
    schedule.step()
    if (number + 1) % parts == 0:
        optimizer.step()
        optimizer.zero_grad()
for number in range(updates):
    for _ in range(parts):
        x, y = batch()
        loss = F.mse_loss(model(x), y)
        (loss / parts).backward()
        for group in optimizer.param_groups:
            group["lr"] = 0.05 / (1 + number)
    optimizer.step()
    optimizer.zero_grad()
print(f"{loss.item():.4f}")
