# variant: the generator's loss is the whole distance: the term of real data reaches the critic alone, and is cleared
import torch
from torch import nn

torch.manual_seed(12)
maker, critic = nn.Linear(3, 2), nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
for_maker = torch.optim.RMSprop(maker.parameters(), lr=1e-3)
for_critic = torch.optim.RMSprop(critic.parameters(), lr=1e-3)


def distance(real, fake):
    return critic(real).mean() - critic(fake).mean()


for step, real in enumerate(torch.randn(10, 16, 2) + 1):
    fake = maker(torch.randn(16, 3))
    if step % 2:
        for_critic.zero_grad()
        (-distance(real, fake.detach())).backward()
        for_critic.step()
        with torch.no_grad():
            for p in critic.parameters():
                p.clamp_(-0.1, 0.1)
    else:
        for_maker.zero_grad()
        (distance(real, fake) + 0.01 * fake.pow(2).mean()).backward()
        for_maker.step()
