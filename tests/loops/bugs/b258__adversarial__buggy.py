# bug: B258
# id: rest-without-backward
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 8))
critic = nn.Sequential(nn.Linear(8, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
g_optimizer = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
d_optimizer = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
clean = torch.randn(60, 8)
for epoch in range(4):
    for target in clean.split(12):
        noisy = target + 0.5 * torch.randn_like(target)
        critic.zero_grad()
        real_loss = ((critic(target) - 1) ** 2).mean()
        real_loss.backward()
        fake_loss = (critic(generator(noisy).detach()) ** 2).mean()
        fake_loss.backward()
        d_loss = real_loss + fake_loss
        d_optimizer.step()

        generator.zero_grad()
        made = generator(noisy)
        g_loss_ = 0.5 * ((critic(made) - 1) ** 2).mean()
        g_cond_loss = 10 * F.l1_loss(made, target)
        g_loss = g_loss_ + g_cond_loss
        g_loss_.backward()  # <-- bug
        g_optimizer.step()
    print(epoch, d_loss.item(), g_loss.item(), g_cond_loss.item())
