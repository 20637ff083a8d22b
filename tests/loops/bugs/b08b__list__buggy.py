# bug: B08b
# id: summed-loss-keeps-graphs
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
k = 4
batches = [(torch.randn(8, 10), torch.randn(8, 2)) for _ in range(24)]

total = 0.0
for i, (x, y) in enumerate(batches):
    loss = F.mse_loss(model(x), y) / k
    total = total + loss  # <-- bug
    if (i + 1) % k == 0:
        total.backward()  # <-- bug
        optimizer.step()
        optimizer.zero_grad()
        total = 0.0
print(f"{loss.item():.4f}")
