# bug: B58
# id: hidden-write
# needs: digests
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
histogram = []

for _ in range(8):
    x, y = torch.randn(8, 10), torch.randn(8, 2)
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    for p in model.parameters():
        g = p.grad.numpy()  # <-- bug
        g /= abs(g).max()  # <-- bug
        histogram.append((g > 0.5).mean())
    optimizer.step()
print(f"large share {sum(histogram) / len(histogram):.3f}")
