# variant: WGAN: G's backward is told inputs=G's parameters, so D, cleared right after its own step, stays empty
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WGAN:
    def __init__(self, dim=3, nz=4):
        self.nz = nz
        self.G = nn.Sequential(nn.Linear(nz, 16), nn.ReLU(), nn.Linear(16, dim))
        self.D = nn.Sequential(nn.Linear(dim, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.optimizer_g = torch.optim.RMSprop(self.G.parameters(), lr=1e-3)
        self.optimizer_d = torch.optim.RMSprop(self.D.parameters(), lr=1e-3)

    def critic_step(self, real):
        fake = self.G(torch.randn(len(real), self.nz)).detach()
        loss = self.D(fake).mean() - self.D(real).mean()
        loss.backward()
        self.optimizer_d.step()
        self.optimizer_d.zero_grad()
        with torch.no_grad():
            for p in self.D.parameters():
                p.clamp_(-0.1, 0.1)
        return loss.item()

    def generator_step(self, n):
        self.optimizer_g.zero_grad()
        loss = -self.D(self.G(torch.randn(n, self.nz))).mean()
        loss.backward(inputs=list(self.G.parameters()))
        self.optimizer_g.step()
        return loss.item()


torch.manual_seed(4)
gan = WGAN()
for epoch in range(2):
    for (real,) in DataLoader(TensorDataset(torch.randn(48, 3) + 1), batch_size=8):
        d, g = gan.critic_step(real), gan.generator_step(len(real))
    print(f"[{epoch}] {d:.4f} {g:.4f}")
