# bug: B267
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optim_g = torch.optim.Adam(generator.parameters(), lr=2e-3)
optim_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3)
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)
for step in range(12):
    real = torch.randn(16, 2) * 0.5 + 1
    fake = generator(torch.randn(16, 4))

    optim_d.zero_grad()
    loss_real = criterion(discriminator(real), ones)
    loss_fake = criterion(discriminator(fake.detach()), zeros)
    loss_d = (loss_real + loss_fake) / 2
    loss_d.backward()
    optim_d.step()

    optim_g.zero_grad()
    loss_g = criterion(discriminator(fake), ones)
    loss_g.backward()
    optim_g.step()
    if step % 4 == 0:
        print(step, f"{loss_d.item():.4f} {loss_g.item():.4f}")
