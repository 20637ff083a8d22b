# variant: the learning rates are computed beforehand, by steps that find no gradient: nothing is computed between them
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR

torch.manual_seed(0)
model = nn.Linear(4, 1)


def rates(steps):
    probe = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = CosineAnnealingLR(probe, steps)
    found = []
    for _ in range(steps):
        probe.step()
        found.append(schedule.get_last_lr()[0])
        schedule.step()
    return found


print([f"{rate:.3f}" for rate in rates(10)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = CosineAnnealingLR(optimizer, 10)
for _ in range(10):
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
