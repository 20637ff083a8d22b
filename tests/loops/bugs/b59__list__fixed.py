# bug: B59
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
k = 3
batches = [(torch.randn(5, 6), torch.randn(5, 1)) for _ in range(18)]

for i, (x, y) in enumerate(batches):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    if (i + 1) % k == 0:
        for p in model.parameters():
            p.grad /= k
        optimizer.step()
        optimizer.zero_grad()
print(loss.item())
