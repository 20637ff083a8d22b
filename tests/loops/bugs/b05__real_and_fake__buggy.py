# bug: B05
# id: zeroed-inside-window
import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self):
        self.generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
        self.discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.g_optimizer = torch.optim.RMSprop(self.generator.parameters(), lr=1e-3)
        self.d_optimizer = torch.optim.RMSprop(self.discriminator.parameters(), lr=1e-3)

    def discriminator_step(self, real, z):
        self.d_optimizer.zero_grad()
        on_real = F.softplus(-self.discriminator(real)).mean()
        on_real.backward()
        self.d_optimizer.zero_grad()  # <-- bug
        with torch.no_grad():
            fake = self.generator(z)
        on_fake = F.softplus(self.discriminator(fake)).mean()
        on_fake.backward()
        self.d_optimizer.step()
        return on_real.item() + on_fake.item()

    def generator_step(self, z):
        self.g_optimizer.zero_grad()
        loss = F.softplus(-self.discriminator(self.generator(z))).mean()
        loss.backward()
        self.g_optimizer.step()
        return loss.item()


torch.manual_seed(0)
trainer = Trainer()
for step in range(20):
    d_loss = trainer.discriminator_step(1 + torch.randn(16, 2), torch.randn(16, 4))
    g_loss = trainer.generator_step(torch.randn(16, 4))
print(f"{d_loss:.4f} {g_loss:.4f}")
