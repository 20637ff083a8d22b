# variant: DP-SGD: every sample's gradient clipped on its own, cleared and summed elsewhere, noise, one step
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
max_grad_norm, noise_multiplier = 1.0, 0.5
for step in range(3):
    x = torch.randn(6, 6)
    for p in model.parameters():
        p.accumulated = torch.zeros_like(p)
    for sample in x.split(1):
        loss = (model(sample) - sample[:, :1]).pow(2).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
        for p in model.parameters():
            p.accumulated += p.grad
        model.zero_grad()
    for p in model.parameters():
        noise = torch.randn_like(p) * noise_multiplier * max_grad_norm
        p.grad = (p.accumulated + noise) / len(x)
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss.item():.4f}")
