# variant: LambdaLR gives rates where the optimizer's own is 1, and a warm-up by hand stands beside a schedule
import torch
from torch import nn

lr, steps = 3e-3, 24
torch.manual_seed(0)
one, other = nn.Linear(4, 2), nn.Linear(4, 2)
first = torch.optim.Adam(one.parameters(), lr=1.0)
rates = torch.optim.lr_scheduler.LambdaLR(first, lambda step: lr * (1 - step / steps))
second = torch.optim.SGD(other.parameters(), lr=0.1)
later = torch.optim.lr_scheduler.StepLR(second, 8, gamma=0.5)
for step in range(steps):
    if step < 4:
        second.param_groups[0]["lr"] = 0.1 * (step + 1) / 4
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(one(x), x[:, :2]) + nn.functional.mse_loss(other(x), x[:, 2:])
    first.zero_grad()
    second.zero_grad()
    loss.backward()
    first.step()
    second.step()
    rates.step()
    later.step()
print(loss.item())
