# bug: B78
# id: backward-reaches-another-model
# raises: RuntimeError
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Pix2Pix:
    def __init__(self, lambda_l1=10.0):
        self.generator = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 1, 3, padding=1))
        self.discriminator = nn.Sequential(nn.Conv2d(2, 6, 3), nn.LeakyReLU(0.2), nn.Conv2d(6, 1, 3))
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=1e-3)
        self.opt_d = torch.optim.Adam(self.discriminator.parameters(), lr=1e-3)
        self.adversarial = nn.MSELoss()
        self.lambda_l1 = lambda_l1

    def gan_loss(self, prediction, is_real):
        target = torch.ones_like(prediction) if is_real else torch.zeros_like(prediction)
        return self.adversarial(prediction, target)

    def set_requires_grad(self, net, flag):
        for p in net.parameters():
            p.requires_grad_(flag)

    def backward_d(self, source, target, fake):
        pred_real = self.discriminator(torch.cat([source, target], 1))
        pred_fake = self.discriminator(torch.cat([source, fake], 1))  # <-- bug
        loss = 0.5 * (self.gan_loss(pred_real, True) + self.gan_loss(pred_fake, False))
        loss.backward()  # <-- bug
        return loss.item()

    def backward_g(self, source, target, fake):
        prediction = self.discriminator(torch.cat([source, fake], 1))
        loss = self.gan_loss(prediction, True) + self.lambda_l1 * nn.functional.l1_loss(fake, target)
        loss.backward()
        return loss.item()

    def optimize(self, source, target):
        fake = self.generator(source)
        self.set_requires_grad(self.discriminator, True)
        self.opt_d.zero_grad()
        d = self.backward_d(source, target, fake)
        self.opt_d.step()
        self.set_requires_grad(self.discriminator, False)
        self.opt_g.zero_grad()
        g = self.backward_g(source, target, fake)
        self.opt_g.step()
        return d, g


torch.manual_seed(5)
pairs = TensorDataset(torch.randn(32, 1, 6, 6), torch.randn(32, 1, 6, 6))
gan = Pix2Pix()
for epoch in range(2):
    for source, target in DataLoader(pairs, batch_size=8, shuffle=True):
        d, g = gan.optimize(source, target)
print(f"d {d:.4f} g {g:.4f}")
