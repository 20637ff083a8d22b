# bug: B82
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Generator(nn.Module):
    def __init__(self, nz, out):
        super().__init__()
        self.nz = nz
        self.main = nn.Sequential(nn.Linear(nz, 16), nn.BatchNorm1d(16), nn.ReLU(True), nn.Linear(16, out))

    def forward(self, n):
        return self.main(torch.randn(n, self.nz))


class WGAN:
    def __init__(self, dim=3, nz=4, lr=1e-3):
        self.G = Generator(nz, dim)
        self.D = nn.Sequential(nn.Linear(dim, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.optimizer_g = torch.optim.Adam(self.G.parameters(), lr=lr, betas=(0.5, 0.9))
        self.optimizer_d = torch.optim.Adam(self.D.parameters(), lr=lr, betas=(0.5, 0.9))
        self.one = torch.tensor(1.0)
        self.mone = -self.one

    def update_critic(self, real):
        self.optimizer_d.zero_grad()
        errD_real = self.D(real).mean()
        errD_real.backward(self.mone)
        errD_fake = self.D(self.G(len(real)).detach()).mean()
        errD_fake.backward(self.one)
        self.optimizer_d.step()
        with torch.no_grad():
            for p in self.D.parameters():
                p.clamp_(-0.1, 0.1)
        return (errD_real - errD_fake).item()

    def update_generator(self, n):
        self.optimizer_g.zero_grad()
        errG = self.D(self.G(n)).mean()
        errG.backward(self.mone)
        self.optimizer_g.step()
        return errG.item()


if __name__ == "__main__":
    torch.manual_seed(4)
    loader = DataLoader(TensorDataset(torch.randn(48, 3) + 1), batch_size=8, shuffle=True)
    gan = WGAN()
    for epoch in range(2):
        for i, (real,) in enumerate(loader):
            distance = gan.update_critic(real)
            err = gan.update_generator(len(real))
        print(f"[{epoch}] distance {distance:.4f} G {err:.4f}")
