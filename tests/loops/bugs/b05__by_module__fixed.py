# bug: B05
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
critic = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_optimizer = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
d_optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
data = torch.randn(60, 6) + 1
for epoch in range(4):
    for real in data.split(12):
        critic.zero_grad()
        real_loss = ((critic(real) - 1) ** 2).mean()
        real_loss.backward()
        fake_loss = (critic(generator(torch.randn(12, 4))) ** 2).mean()
        fake_loss.backward()
        d_optimizer.step()
        generator.zero_grad()
        (0.5 * ((critic(generator(torch.randn(12, 4))) - 1) ** 2).mean()).backward()
        g_optimizer.step()
