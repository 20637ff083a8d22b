# bug: B89
import torch
from torch import nn


def gradient_penalty(critic, real, fake):
    share = torch.rand(real.shape[0], 1)
    mixed = (share * real + (1 - share) * fake).requires_grad_(True)
    (slope,) = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    return ((slope.norm(2, dim=1) - 1) ** 2).mean()


torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
for step in range(12):
    real = torch.randn(16, 2) + 2
    fake = generator(torch.randn(16, 3)).detach()
    loss = critic(fake).mean() - critic(real).mean()
    loss = loss + 10 * gradient_penalty(critic, real, fake)
    opt_c.zero_grad()
    loss.backward()
    opt_c.step()
    if step % 3 == 2:
        opt_g.zero_grad()
        (-critic(generator(torch.randn(16, 3))).mean()).backward()
        opt_g.step()
