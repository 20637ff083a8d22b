# variant: pix2pix order: D frozen with requires_grad False during G's step, set back for its own
import torch
from torch import nn


def set_requires_grad(net: nn.Module, flag: bool) -> None:
    for param in net.parameters():
        param.requires_grad = flag


class Pix2Pix:
    def __init__(self) -> None:
        self.netG = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 6))
        self.netD = nn.Sequential(nn.Linear(12, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.criterionGAN = nn.BCEWithLogitsLoss()
        self.criterionL1 = nn.L1Loss()

    def set_input(self, a: torch.Tensor, b: torch.Tensor) -> None:
        self.real_A, self.real_B = a, b

    def gan_loss(self, pred: torch.Tensor, real: bool) -> torch.Tensor:
        return self.criterionGAN(pred, torch.full_like(pred, float(real)))

    def backward_D(self) -> None:
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        loss_fake = self.gan_loss(self.netD(fake_AB.detach()), False)
        loss_real = self.gan_loss(self.netD(torch.cat((self.real_A, self.real_B), 1)), True)
        self.loss_D = (loss_fake + loss_real) * 0.5
        self.loss_D.backward()

    def backward_G(self) -> None:
        fake_AB = torch.cat((self.real_A, self.fake_B), 1)
        self.loss_G = self.gan_loss(self.netD(fake_AB), True) + 100.0 * self.criterionL1(self.fake_B, self.real_B)
        self.loss_G.backward()

    def optimize_parameters(self) -> None:
        self.fake_B = self.netG(self.real_A)
        set_requires_grad(self.netD, True)
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()
        set_requires_grad(self.netD, False)
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()


if __name__ == "__main__":
    torch.manual_seed(0)
    gan = Pix2Pix()
    for _ in range(5):
        gan.set_input(torch.randn(8, 6), torch.randn(8, 6))
        gan.optimize_parameters()
    print(f"G {gan.loss_G.item():.3f} D {gan.loss_D.item():.3f}")
