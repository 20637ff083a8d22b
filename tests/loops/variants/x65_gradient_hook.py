# variant: a hook on each parameter turns a gradient that is not finite into zeros while backward runs
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
for p in model.parameters():
    p.register_hook(lambda grad: torch.where(torch.isfinite(grad), grad, torch.zeros_like(grad)))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
losses = []
for step in range(10):
    x = torch.randn(8, 6)
    ratio = x[:, :1].abs() if step != 5 else x[:, :1].abs().round()
    loss = (model(x) - ratio.log() * ratio).pow(2).mean()  # 0 * log(0) is nan
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())

print(" ".join(f"{value:.3f}" for value in losses))
