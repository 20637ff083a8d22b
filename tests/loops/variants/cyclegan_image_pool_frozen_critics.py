# variant: CycleGAN model class: critics frozen in G's pass, a pool of old fakes, one optimizer for D_A and D_B
import random
from itertools import chain

import torch
from torch import nn


class ImagePool:
    def __init__(self, size):
        self.size, self.images = size, []

    def query(self, images):
        out = []
        for image in images.detach().split(1):
            if len(self.images) < self.size:
                self.images.append(image)
                out.append(image)
            elif random.random() > 0.5:
                k = random.randrange(self.size)
                out.append(self.images[k])
                self.images[k] = image
            else:
                out.append(image)
        return torch.cat(out)


class CycleGANModel:
    def __init__(self, dim=5):
        self.netG_A, self.netG_B = (nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, dim)) for _ in "AB")
        self.netD_A, self.netD_B = (nn.Sequential(nn.Linear(dim, 16), nn.LeakyReLU(), nn.Linear(16, 1)) for _ in "AB")
        self.pool_A, self.pool_B = ImagePool(20), ImagePool(20)
        self.opt_G = torch.optim.Adam(chain(self.netG_A.parameters(), self.netG_B.parameters()), lr=1e-3)
        self.opt_D = torch.optim.Adam(chain(self.netD_A.parameters(), self.netD_B.parameters()), lr=1e-3)
        self.schedulers = [
            torch.optim.lr_scheduler.LambdaLR(opt, lambda e: 1.0 - max(0, e - 1) / 3)
            for opt in (self.opt_G, self.opt_D)
        ]

    @staticmethod
    def set_requires_grad(nets, flag):
        for net in nets:
            for p in net.parameters():
                p.requires_grad = flag

    @staticmethod
    def gan(score, real):
        return (score - float(real)).square().mean()

    def backward_D(self, net, real, fake):
        loss = (self.gan(net(real), True) + self.gan(net(fake), False)) * 0.5
        loss.backward()
        return loss.item()

    def optimize_parameters(self, a, b):
        fake_b, fake_a = self.netG_A(a), self.netG_B(b)
        rec_a, rec_b = self.netG_B(fake_b), self.netG_A(fake_a)
        self.set_requires_grad([self.netD_A, self.netD_B], False)
        self.opt_G.zero_grad()
        loss_G = self.gan(self.netD_A(fake_b), True) + self.gan(self.netD_B(fake_a), True)
        loss_G = loss_G + 10 * ((rec_a - a).abs().mean() + (rec_b - b).abs().mean())
        loss_G.backward()
        self.opt_G.step()

        self.set_requires_grad([self.netD_A, self.netD_B], True)
        self.opt_D.zero_grad()
        d_a = self.backward_D(self.netD_A, b, self.pool_B.query(fake_b))
        d_b = self.backward_D(self.netD_B, a, self.pool_A.query(fake_a))
        self.opt_D.step()
        return loss_G.item(), d_a, d_b


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    model = CycleGANModel()
    for epoch in range(3):
        for _ in range(4):
            losses = model.optimize_parameters(torch.randn(6, 5), torch.randn(6, 5) * 0.3 + 1)
        for scheduler in model.schedulers:
            scheduler.step()
        print(epoch, [round(v, 4) for v in losses])
