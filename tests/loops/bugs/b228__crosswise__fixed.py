# bug: B228
import copy

import torch
from torch import nn


@torch.no_grad()
def update_ema(model, ema, rate=0.99):
    for param, ema_param in zip(model.parameters(), ema.parameters()):
        ema_param.mul_(rate).add_(param, alpha=1 - rate)


class Denoiser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width + 1, 24), nn.SiLU(), nn.Linear(24, width))

    def forward(self, x, time):
        return self.net(torch.cat([x, time], dim=1))


torch.manual_seed(3)
model = Denoiser(4)
ema = copy.deepcopy(model).eval().requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(20):
    clean, noise, time = torch.randn(16, 4) * 0.3 + 1, torch.randn(16, 4), torch.rand(16, 1)
    loss = nn.functional.mse_loss(model((1 - time) * clean + time * noise, time), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    update_ema(model, ema)
print(f"{loss.item():.4f}")
