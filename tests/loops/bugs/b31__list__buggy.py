# bug: B31
# id: running-loss-backward
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
k = 4
batches = [(torch.randn(6, 10), torch.randn(6, 2)) for _ in range(24)]

running = 0
for i, (x, y) in enumerate(batches):
    running = running + F.mse_loss(model(x), y) / k  # <-- bug
    running.backward(retain_graph=True)  # <-- bug
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
        print(end=f"{running.item():.3f} ")
        running = 0
print()
