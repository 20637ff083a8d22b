# bug: B65
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1), nn.Softplus())
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
batches = []
for _ in range(14):
    x = torch.randn(8, 6)
    batches.append((x, x.abs().sum(1, keepdim=True)))
batches[5][1][2] = 0.0  # nothing was counted here: 0 * log(0)

for step, (x, y) in enumerate(batches):
    rate = model(x)
    loss = (y * torch.log(y / rate) - (y - rate)).mean()  # Poisson deviance
    optimizer.zero_grad()
    if not torch.isfinite(loss):
        print(f"step {step}: no finite loss, passed over")
        continue
    loss.backward()
    optimizer.step()
    print(f"step {step}: {loss.item():.4f}")
