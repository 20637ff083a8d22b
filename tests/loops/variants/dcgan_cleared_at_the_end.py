# variant: GAN as a class: G first, both optimizers cleared at the end of each round, one D backward on the mean
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GANTrainer:
    def __init__(self, dim=4, nz=3):
        self.nz = nz
        self.G = nn.Sequential(nn.Linear(nz, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, dim))
        self.D = nn.Sequential(nn.Linear(dim, 16), nn.LeakyReLU(0.2), nn.Dropout(0.2), nn.Linear(16, 1))
        self.optimizers = {
            "G": torch.optim.Adam(self.G.parameters(), lr=1e-3, betas=(0.5, 0.999)),
            "D": torch.optim.Adam(self.D.parameters(), lr=1e-3, betas=(0.5, 0.999)),
        }

    @staticmethod
    def bce(logits, target):
        return nn.functional.binary_cross_entropy_with_logits(logits, torch.full_like(logits, target))

    def round(self, real):
        fake = self.G(torch.randn(len(real), self.nz))
        g_loss = self.bce(self.D(fake), 1.0)
        g_loss.backward()
        self.optimizers["G"].step()
        self.D.zero_grad(set_to_none=True)

        d_loss = (self.bce(self.D(real), 0.9) + self.bce(self.D(fake.detach()), 0.0)) / 2
        d_loss.backward()
        self.optimizers["D"].step()
        for optimizer in self.optimizers.values():
            optimizer.zero_grad(set_to_none=True)
        return {"g": g_loss.item(), "d": d_loss.item()}


if __name__ == "__main__":
    torch.manual_seed(1)
    trainer = GANTrainer()
    loader = DataLoader(TensorDataset(torch.randn(45, 4).abs()), batch_size=8, shuffle=True, drop_last=True)
    for epoch in range(2):
        for (real,) in loader:
            losses = trainer.round(real)
        print(epoch, {k: round(v, 4) for k, v in losses.items()})
