# variant: weights are clamped after each step and before each evaluation, with an average beside them
import copy

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
average = copy.deepcopy(critic).requires_grad_(False)
optimizer = torch.optim.RMSprop(critic.parameters(), lr=5e-2)
for step in range(1, 31):
    real, fake = torch.randn(16, 6) + 1, torch.randn(16, 6)
    loss = critic(fake).mean() - critic(real).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p in critic.parameters():
            p.clamp_(-0.1, 0.1)
        for a, p in zip(average.parameters(), critic.parameters()):
            a.mul_(0.8).add_(p, alpha=0.2)
        if step % 5 == 0:
            print(f"{step}: {(critic(real).mean() - critic(fake).mean()).item():.4f}")
