# bug: B151
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
d_opt = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
real_label, fake_label = torch.ones(16, 1), torch.zeros(16, 1)

for step in range(20):
    g_opt.zero_grad()

    fake = generator(torch.randn(16, 4))
    g_loss = F.binary_cross_entropy_with_logits(discriminator(fake), real_label)
    g_loss.backward()
    g_opt.step()

    real = torch.randn(16, 2) * 0.3 + 1
    d_loss = F.binary_cross_entropy_with_logits(discriminator(real), real_label)
    d_loss = d_loss + F.binary_cross_entropy_with_logits(discriminator(fake.detach()), fake_label)
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
