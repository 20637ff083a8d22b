# variant: GAN with loss_D = (real + fake) / 2 in one backward, as PyTorch-GAN writes it
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 2), nn.Tanh())
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
adversarial_loss = nn.BCELoss()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))

for epoch in range(2):
    for i in range(5):
        real_imgs = torch.rand(8, 2) * 2 - 1
        valid, fake = torch.ones(8, 1), torch.zeros(8, 1)

        optimizer_G.zero_grad()
        gen_imgs = generator(torch.randn(8, 4))
        g_loss = adversarial_loss(discriminator(gen_imgs), valid)
        g_loss.backward()
        optimizer_G.step()

        optimizer_D.zero_grad()
        real_loss = adversarial_loss(discriminator(real_imgs), valid)
        fake_loss = adversarial_loss(discriminator(gen_imgs.detach()), fake)
        d_loss = (real_loss + fake_loss) / 2
        d_loss.backward()
        optimizer_D.step()

print(f"d {d_loss.item():.4f} g {g_loss.item():.4f}")
