# bug: B70b
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
batches = [(torch.randn(6, 10), torch.randn(6, 1)) for _ in range(36)]
model = nn.Sequential(nn.Linear(10, 20), nn.Tanh(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

for i, (x, y) in enumerate(batches):
    loss = F.mse_loss(model(x), y)
    (loss / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
    if (i + 1) % 12 == 0:
        print(i + 1, f"{loss.item():.4f}")
