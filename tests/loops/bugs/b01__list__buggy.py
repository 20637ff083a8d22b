# bug: B01
# id: never-zeroed
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
batches = [(torch.randn(8, 10), torch.randn(8, 2)) for _ in range(10)]

for x, y in batches:
    loss = F.mse_loss(model(x), y)
    loss.backward()  # <-- bug
    optimizer.step()  # <-- bug

print(f"last loss {loss.item():.4f}")
