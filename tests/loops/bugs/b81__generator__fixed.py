# bug: B81
import torch
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.block1 = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.block2 = nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, z):
        return self.block2(self.block1(z))


torch.manual_seed(0)
generator = Generator()
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
adversarial_loss = nn.BCEWithLogitsLoss()
valid, fake = torch.ones(16, 1), torch.zeros(16, 1)

for i in range(10):
    real = torch.randn(16, 2) * 0.5 + 2
    optimizer_G.zero_grad()
    samples = generator(torch.randn(16, 4))
    g_loss = adversarial_loss(discriminator(samples), valid)
    g_loss.backward()
    optimizer_G.step()

    optimizer_D.zero_grad()
    real_loss = adversarial_loss(discriminator(real), valid)
    fake_loss = adversarial_loss(discriminator(samples.detach()), fake)
    d_loss = (real_loss + fake_loss) / 2
    d_loss.backward()
    optimizer_D.step()
print(f"G {g_loss.item():.4f} D {d_loss.item():.4f}")
