# variant: CycleGAN: one optimizer over both generators by itertools.chain, one per discriminator, halved D losses
import itertools

import torch
from torch import nn

torch.manual_seed(0)


def generator():
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.InstanceNorm2d(6), nn.ReLU(True), nn.Conv2d(6, 1, 3, padding=1)
    )


def discriminator():
    return nn.Sequential(nn.Conv2d(1, 6, 4, 2, 1), nn.LeakyReLU(0.2, True), nn.Conv2d(6, 1, 3, 1, 1))


netG_A2B, netG_B2A, netD_A, netD_B = generator(), generator(), discriminator(), discriminator()
criterion_GAN, criterion_cycle, criterion_identity = nn.MSELoss(), nn.L1Loss(), nn.L1Loss()
optimizer_G = torch.optim.Adam(
    itertools.chain(netG_A2B.parameters(), netG_B2A.parameters()), lr=2e-4, betas=(0.5, 0.999)
)
optimizer_D_A = torch.optim.Adam(netD_A.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_D_B = torch.optim.Adam(netD_B.parameters(), lr=2e-4, betas=(0.5, 0.999))
target_real, target_fake = torch.ones(2, 1, 4, 4), torch.zeros(2, 1, 4, 4)

for i in range(8):
    real_A, real_B = torch.rand(2, 1, 8, 8), torch.rand(2, 1, 8, 8) - 1

    optimizer_G.zero_grad()
    loss_identity = criterion_identity(netG_A2B(real_B), real_B) + criterion_identity(netG_B2A(real_A), real_A)
    fake_B = netG_A2B(real_A)
    fake_A = netG_B2A(real_B)
    loss_GAN = criterion_GAN(netD_B(fake_B), target_real) + criterion_GAN(netD_A(fake_A), target_real)
    loss_cycle = criterion_cycle(netG_B2A(fake_B), real_A) + criterion_cycle(netG_A2B(fake_A), real_B)
    loss_G = 5.0 * loss_identity + loss_GAN + 10.0 * loss_cycle
    loss_G.backward()
    optimizer_G.step()

    for netD, optimizer_D, real, fake in (
        (netD_A, optimizer_D_A, real_A, fake_A),
        (netD_B, optimizer_D_B, real_B, fake_B),
    ):
        optimizer_D.zero_grad()
        loss_D = (criterion_GAN(netD(real), target_real) + criterion_GAN(netD(fake.detach()), target_fake)) * 0.5
        loss_D.backward()
        optimizer_D.step()
print(f"{loss_G.item():.4f} {loss_D.item():.4f}")
