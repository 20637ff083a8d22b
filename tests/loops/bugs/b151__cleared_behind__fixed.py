# bug: B151
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optim_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
optim_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
for step in range(20):
    optim_g.zero_grad()
    fake = generator(torch.randn(16, 4))
    loss_g = F.softplus(-discriminator(fake)).mean()
    loss_g.backward()
    optim_g.step()
    for _ in range(2):
        real, fake = torch.randn(16, 2) + 2, generator(torch.randn(16, 4)).detach()
        loss_d = F.softplus(-discriminator(real)).mean() + F.softplus(discriminator(fake)).mean()
        optim_d.zero_grad()
        loss_d.backward()
        optim_d.step()
