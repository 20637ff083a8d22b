# bug: B155
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 6))
opt_c = torch.optim.RMSprop(critic.parameters(), lr=5e-4)
opt_g = torch.optim.RMSprop(generator.parameters(), lr=5e-4)
data = torch.randn(64, 6) + 1
for step in range(24):
    for _ in range(2):
        real = data[torch.randint(64, (16,))]
        fake = generator(torch.randn(16, 3)).detach()
        opt_c.zero_grad()
        (critic(fake).mean() - critic(real).mean()).backward()
        opt_c.step()
        for p in critic.parameters():
            p.data.clamp_(-0.05, 0.05)
    opt_g.zero_grad()
    (-critic(generator(torch.randn(16, 3))).mean()).backward()
    opt_g.step()
