# bug: B44
# id: window-misaligned
# window: 4
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
k = 4
sizes = [6] * 35
for empty in (3, 9, 21):
    sizes[empty] = 0
batches = [(torch.randn(n, 10), torch.randn(n, 2)) for n in sizes]

for i, (x, y) in enumerate(batches):
    if len(x) == 0:
        continue  # <-- bug
    loss = F.mse_loss(model(x), y) / k
    loss.backward()
    if (i + 1) % k == 0:  # <-- bug
        optimizer.step()
        optimizer.zero_grad()
print(f"{loss.item():.4f}")
