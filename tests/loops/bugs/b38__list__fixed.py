# bug: B38
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
k = 32

for step in range(6):
    for _ in range(k):
        x, y = torch.randn(4, 10), torch.randn(4, 2)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.mse_loss(model(x), y) / k
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(loss.item())
