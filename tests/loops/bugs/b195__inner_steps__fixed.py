# bug: B195
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
criterion = nn.MSELoss()
for _ in range(8):
    x, y = torch.randn(16, 6), torch.randn(16, 1)
    for _ in range(4):
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
