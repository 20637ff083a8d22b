# bug: B140
# id: backward-after-step
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 7))
critic = nn.Sequential(nn.Linear(7, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_optimizer = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
d_optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
clean = torch.randn(60, 7) + 1
for epoch in range(4):
    for real in clean.split(12):
        critic.zero_grad()
        real_loss = ((critic(real) - 1) ** 2).mean()
        real_loss.backward()
        d_optimizer.step()  # <-- bug
        fake_loss = (critic(generator(torch.randn(12, 5))) ** 2).mean()
        fake_loss.backward()  # <-- bug

        generator.zero_grad()
        g_loss = 0.5 * ((critic(generator(torch.randn(12, 5))) - 1) ** 2).mean()
        g_loss.backward()
        g_optimizer.step()
