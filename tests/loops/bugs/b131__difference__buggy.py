# bug: B131
# id: penalty-without-graph
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
for_generator = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
for_critic = torch.optim.RMSprop(critic.parameters(), lr=1e-3)


def slope_penalty(real, fake):
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * fake).requires_grad_()
    score = critic(between).sum()
    (slope,) = torch.autograd.grad(score, between, retain_graph=True)  # <-- bug
    return 10 * ((slope.norm(dim=1) - 1) ** 2).mean()


for real in torch.randn(10, 16, 2) + 2:
    with torch.no_grad():
        fake = generator(torch.randn(16, 3))
    distance = critic(real).mean() - critic(fake).mean()
    penalty = slope_penalty(real, fake)
    for_critic.zero_grad()
    (penalty - distance).backward()
    for_critic.step()

    for_generator.zero_grad()
    (-critic(generator(torch.randn(16, 3))).mean()).backward()
    for_generator.step()
