# bug: B244
# id: summand-without-graph
import torch
from torch import nn


class Translator:
    def __init__(self):
        self.g = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 6))
        self.d = nn.Sequential(nn.Linear(12, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.opt_g = torch.optim.Adam(self.g.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.d.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.gan, self.l1 = nn.BCEWithLogitsLoss(), nn.L1Loss()

    def backward_d(self):
        fake = self.d(torch.cat([self.a, self.fake.detach()], 1))
        real = self.d(torch.cat([self.a, self.b], 1))
        (self.gan(fake, torch.zeros_like(fake)) + self.gan(real, torch.ones_like(real))).div(2).backward()

    def backward_g(self):
        said = self.d(torch.cat([self.a, self.fake.detach()], 1))  # <-- bug
        self.loss = self.gan(said, torch.ones_like(said)) + 10 * self.l1(self.fake, self.b)
        self.loss.backward()

    def optimize(self, a, b):
        self.a, self.b = a, b
        self.fake = self.g(a)
        self.opt_d.zero_grad()
        self.backward_d()
        self.opt_d.step()
        self.opt_g.zero_grad()
        self.backward_g()
        self.opt_g.step()


torch.manual_seed(15)
model = Translator()
for _ in range(15):
    a = torch.randn(8, 6)
    model.optimize(a, a.flip(1))
print(f"{model.loss.item():.4f}")
