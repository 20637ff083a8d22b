# bug: B79
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
batches = [(torch.randn(6, 10), torch.randint(0, 3, (6,))) for _ in range(32)]

for i, (x, y) in enumerate(batches):
    loss = F.cross_entropy(model(x), y) / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
print(loss.item() * 4)
