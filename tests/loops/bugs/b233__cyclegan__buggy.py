# bug: B233
# id: gradients-nobody-uses
import itertools

import torch
from torch import nn

torch.manual_seed(0)


def generator():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 4))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.model(x)


netG_A2B, netG_B2A = generator(), generator()
netD_A, netD_B = Discriminator(), Discriminator()
criterion_GAN, criterion_cycle = nn.MSELoss(), nn.L1Loss()

optimizer_G = torch.optim.Adam(itertools.chain(netG_A2B.parameters(), netG_B2A.parameters()), lr=2e-3)
optimizer_D_A = torch.optim.Adam(netD_A.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_D_B = torch.optim.Adam(netD_A.parameters(), lr=2e-3, betas=(0.5, 0.999))  # <-- bug

target_real, target_fake = torch.ones(16, 1), torch.zeros(16, 1)
for i in range(15):
    real_A, real_B = torch.randn(16, 4), torch.randn(16, 4).cumsum(1)

    optimizer_G.zero_grad()
    fake_B, fake_A = netG_A2B(real_A), netG_B2A(real_B)
    loss_GAN = criterion_GAN(netD_B(fake_B), target_real) + criterion_GAN(netD_A(fake_A), target_real)
    loss_cycle = criterion_cycle(netG_B2A(fake_B), real_A) + criterion_cycle(netG_A2B(fake_A), real_B)
    loss_G = loss_GAN + 10.0 * loss_cycle
    loss_G.backward()
    optimizer_G.step()

    optimizer_D_A.zero_grad()
    loss_D_A = criterion_GAN(netD_A(real_A), target_real) + criterion_GAN(netD_A(fake_A.detach()), target_fake)
    loss_D_A.backward()
    optimizer_D_A.step()

    optimizer_D_B.zero_grad()
    loss_D_B = criterion_GAN(netD_B(real_B), target_real) + criterion_GAN(netD_B(fake_B.detach()), target_fake)
    loss_D_B.backward()
    optimizer_D_B.step()
