# bug: B140
# id: backward-after-step
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
maker = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
maker_opt = torch.optim.Adam(maker.parameters(), lr=1e-3)


def penalty(real, fake):
    mixed = torch.lerp(real, fake, torch.rand(len(real), 1)).requires_grad_()
    (slope,) = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)
    return 10 * ((slope.norm(dim=1) - 1) ** 2).mean()


for _ in range(10):
    for _ in range(3):
        real = torch.randn(16, 2) + 1
        fake = maker(torch.randn(16, 2)).detach()
        critic_opt.zero_grad()
        (critic(fake).mean() - critic(real).mean()).backward()
        critic_opt.step()  # <-- bug
        penalty(real, fake).backward()  # <-- bug
    maker_opt.zero_grad()
    critic.requires_grad_(False)
    (-critic(maker(torch.randn(16, 2))).mean()).backward()
    maker_opt.step()
    critic.requires_grad_(True)
