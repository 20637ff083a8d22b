# variant: D gets gradients from G's loss too, of no use to G; D has an optimizer of its own, which clears them first
import torch
from torch import nn


class SRGAN:
    def __init__(self):
        self.G = nn.Sequential(nn.Linear(4, 16), nn.PReLU(), nn.Linear(16, 8))
        self.D = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=1e-3)
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=1e-3)
        self.bce = nn.BCEWithLogitsLoss()

    def pretrain(self, low, high):
        self.opt_g.zero_grad()
        loss = nn.functional.mse_loss(self.G(low), high)
        loss.backward()
        self.opt_g.step()
        return loss.item()

    def adversarial(self, low, high):
        ones = torch.ones(len(low), 1)
        fake = self.G(low)
        self.opt_g.zero_grad()
        g_loss = nn.functional.mse_loss(fake, high) + 1e-2 * self.bce(self.D(fake), ones)
        g_loss.backward()
        self.opt_g.step()
        self.opt_d.zero_grad()
        d_loss = self.bce(self.D(high), ones) + self.bce(self.D(fake.detach()), 0 * ones)
        d_loss.backward()
        self.opt_d.step()
        return g_loss.item(), d_loss.item()


torch.manual_seed(9)
gan = SRGAN()
data = [torch.randn(8, 8) for _ in range(6)]
for high in data:
    pre = gan.pretrain(high[:, ::2], high)
for epoch in range(2):
    for high in data:
        losses = gan.adversarial(high[:, ::2], high)
print(f"{pre:.4f}", [round(v, 4) for v in losses])
