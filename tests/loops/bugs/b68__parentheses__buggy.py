# bug: B68
# id: auxiliary-loss-not-divided
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
accumulations = 2
for _ in range(12):
    optimizer.zero_grad()
    for _ in range(accumulations):
        real, fake = torch.randn(8, 2) + 2, generator(torch.randn(8, 4)).detach()
        loss_real = torch.mean(F.relu(1.0 - discriminator(real)))
        loss_fake = torch.mean(F.relu(1.0 + discriminator(fake)))
        loss = loss_real + loss_fake / float(accumulations)  # <-- bug
        loss.backward()
    optimizer.step()
