# bug: B18
"""A discriminator gives many losses, and their sum is scaled with the other."""

import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Linear(4, 8)
judges = nn.ModuleList(nn.Linear(8, 1) for _ in range(14)).requires_grad_(False)
optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu")
for _ in range(8):
    noise = torch.randn(16, 4)
    made = generator(noise)
    loss = (made.mean(1) - noise.mean(1)).abs().mean()
    adversarial = 0
    for judge in judges:
        adversarial += judge(made).square().mean()
    optimizer.zero_grad()
    scaler.scale(loss + adversarial).backward()
    scaler.step(optimizer)
    scaler.update()
