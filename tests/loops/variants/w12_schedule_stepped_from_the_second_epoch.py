# variant: the schedule is stepped at the beginning of each epoch but the first
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
for epoch in range(6):
    if epoch > 0:
        scheduler.step()
    for _ in range(4):
        x = torch.randn(16, 6)
        loss = nn.functional.mse_loss(model(x), x[:, :2])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(loss.item())
