# bug: B19
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.8)
k = 4
batches = [(torch.randn(6, 10), torch.randn(6, 2)) for _ in range(24)]

for i, (x, y) in enumerate(batches):
    loss = F.mse_loss(model(x), y) / k
    loss.backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
print(f"lr {scheduler.get_last_lr()[0]:.5f}")
