# variant: GAN: two discriminator steps to each of the generator's; the average follows the generator's steps
import copy

import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 2))
D = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
G_ema = copy.deepcopy(G).requires_grad_(False)
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))
for iteration in range(20):
    real = torch.randn(8, 2) + 2
    fake = G(torch.randn(8, 4)).detach()
    d_loss = nn.functional.softplus(D(fake)).mean() + nn.functional.softplus(-D(real)).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    if iteration % 2 == 0:
        continue
    g_loss = nn.functional.softplus(-D(G(torch.randn(8, 4)))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    with torch.no_grad():
        for ema, p in zip(G_ema.parameters(), G.parameters()):
            ema.copy_(p.lerp(ema, 0.9))

print(f"{d_loss.item():.4f} {g_loss.item():.4f}")
