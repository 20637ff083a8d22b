# variant: a warm-up from a rate of 0 is stepped once before training, and a schedule is told the epoch at its beginning
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
warm_up = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: min(1.0, epoch / 3))
for epoch in range(6):
    warm_up.step()
    for _ in range(4):
        x = torch.randn(16, 6)
        loss = nn.functional.mse_loss(model(x), x[:, :2])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(loss.item())
