# variant: the plain continue above the step: not the last micro-batch of the window yet
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
k = 4
for i in range(40):
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean() / k
    loss.backward()
    if (i + 1) % k != 0:
        continue
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if not torch.isfinite(norm):
        optimizer.zero_grad()
        continue
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss.item():.4f} {norm.item():.4f}")
