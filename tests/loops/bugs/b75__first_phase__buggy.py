# bug: B75
# id: window-starts-short
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer_d = torch.optim.Adam(critic.parameters(), lr=1e-3)
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
accumulate, step = 4, 0
for epoch in range(2):
    for _ in range(12):
        real, fake = torch.randn(8, 2) + 2, generator(torch.randn(8, 4)).detach()
        optimizer_d.zero_grad()
        (F.softplus(-critic(real)).mean() + F.softplus(critic(fake)).mean()).backward()
        optimizer_d.step()
        loss = F.softplus(-critic(generator(torch.randn(8, 4)))).mean() / accumulate
        loss.backward()
        if step % accumulate == 0:  # <-- bug
            optimizer_g.step()
            optimizer_g.zero_grad()
        step += 1
for _ in range(30):
    wanted = torch.randn(8, 2)
    optimizer_g.zero_grad()
    F.mse_loss(generator(torch.cat([wanted, wanted], 1)), wanted).backward()
    optimizer_g.step()
