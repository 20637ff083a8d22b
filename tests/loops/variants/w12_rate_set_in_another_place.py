# variant: a function that sets the rate is left unused, and the loop sets it itself
import torch
from torch import nn


def adjust_learning_rate(optimizer, epoch):
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * 0.5**epoch


torch.manual_seed(0)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(16):
    optimizer.param_groups[0]["lr"] = 0.1
    x = torch.randn(16, 6)
    loss = nn.functional.mse_loss(model(x), x[:, :2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
