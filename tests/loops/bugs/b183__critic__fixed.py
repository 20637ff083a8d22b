# bug: B183
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
real = torch.randn(128, 6) + 2
generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 6))
critic = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
of_generator = torch.optim.Adam(generator.parameters(), lr=2e-3)
of_critic = torch.optim.Adam(critic.parameters(), lr=2e-3)

for _ in range(12):
    x = real[torch.randint(128, (16,))]
    fake = generator(torch.randn(16, 3))

    critic_loss = F.softplus(-critic(x)).mean() + F.softplus(critic(fake.detach())).mean()
    of_critic.zero_grad()
    critic_loss.backward()
    of_critic.step()

    loss = F.softplus(-critic(fake)).mean()
    of_generator.zero_grad()
    loss.backward()
    of_generator.step()
