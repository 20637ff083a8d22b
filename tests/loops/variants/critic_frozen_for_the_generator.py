# variant: the critic is frozen for each step of the generator, and thawed behind the last one
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
critic = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
for _ in range(12):
    fake, real = generator(torch.randn(8, 4)), torch.randn(8, 3)
    of_critic.zero_grad()
    (F.softplus(-critic(real)).mean() + F.softplus(critic(fake.detach())).mean()).backward()
    of_critic.step()

    critic.requires_grad_(False)
    of_generator.zero_grad()
    loss = F.softplus(-critic(fake)).mean()
    loss.backward()
    of_generator.step()
    critic.requires_grad_(True)
print(f"generator {loss.item():.3f}")
