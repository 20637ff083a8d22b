# bug: B205
import torch
from torch import nn

torch.manual_seed(0)
EPOCHS, BATCHES = 4, 5
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 - n / EPOCHS)
for epoch in range(EPOCHS):
    for _ in range(BATCHES):
        x = torch.randn(16, 6)
        loss = (model(x) - x[:, :1]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
print(loss.item())
