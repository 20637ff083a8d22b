# bug: B185
# id: summand-without-graph
import torch
from torch import nn


class Translator:
    def __init__(self):
        self.net_g = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 6))
        self.net_d = nn.Sequential(nn.Linear(12, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.gan, self.l1, self.weight = nn.BCEWithLogitsLoss(), nn.L1Loss(), 10.0
        self.opt_g = torch.optim.Adam(self.net_g.parameters(), lr=2e-3)
        self.opt_d = torch.optim.Adam(self.net_d.parameters(), lr=2e-3)

    def train_d(self):
        fake = self.net_d(torch.cat((self.a, self.fake.detach()), 1))
        real = self.net_d(torch.cat((self.a, self.b), 1))
        self.loss_d = self.gan(fake, torch.zeros_like(fake)) + self.gan(real, torch.ones_like(real))
        self.opt_d.zero_grad()
        self.loss_d.backward()
        self.opt_d.step()

    def train_g(self):
        score = self.net_d(torch.cat((self.a, self.fake.detach()), 1))  # <-- bug
        self.loss_gan = self.gan(score, torch.ones_like(score))
        self.loss_l1 = self.l1(self.fake, self.b) * self.weight
        self.loss_g = self.loss_gan + self.loss_l1
        self.opt_g.zero_grad()
        self.loss_g.backward()
        self.opt_g.step()

    def step(self, a, b):
        self.a, self.b = a, b
        self.fake = self.net_g(a)
        self.net_d.requires_grad_(True)
        self.train_d()
        self.net_d.requires_grad_(False)
        self.train_g()


torch.manual_seed(0)
model = Translator()
for _ in range(12):
    a = torch.randn(16, 6)
    model.step(a, -0.5 * a.flip(-1))
print(float(model.loss_gan), float(model.loss_l1))
