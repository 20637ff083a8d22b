# bug: B05
import torch
from torch import nn
from torch.nn.functional import softplus

torch.manual_seed(0)
EVERY = 4
generator = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 12))
critic = nn.Sequential(nn.Linear(12, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.99))
opt_d = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.99))


def r1(real):
    """The critic's squared gradient on what is real."""
    real = real.detach().requires_grad_(True)
    (slope,) = torch.autograd.grad(critic(real).sum(), real, create_graph=True)
    return slope.square().sum(1).mean()


for step in range(32):
    real, noise = torch.randn(16, 12), torch.randn(16, 6)
    opt_d.zero_grad()
    d_loss = softplus(critic(generator(noise).detach())).mean() + softplus(-critic(real)).mean()
    d_loss.backward()
    if step % EVERY == 0:
        (r1(real) * EVERY).backward()
    opt_d.step()
    opt_g.zero_grad()
    softplus(-critic(generator(noise))).mean().backward()
    opt_g.step()
