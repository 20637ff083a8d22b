# variant: two schedules step in turn, and the second goes on from the rate that the first has set
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
first = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
second = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda step: 0.5)
for _ in range(20):
    x = torch.randn(16, 6)
    loss = nn.functional.mse_loss(model(x), x[:, :2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    first.step()
    second.step()
print(loss.item())
