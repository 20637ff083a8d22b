# variant: GAN with G's step first through D; the same fakes, detached, train D afterwards
import torch
from torch import nn


class GAN:
    def __init__(self) -> None:
        self.G = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
        self.D = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
        self.g_opt = torch.optim.RMSprop(self.G.parameters(), lr=1e-3)
        self.d_opt = torch.optim.RMSprop(self.D.parameters(), lr=1e-3)

    def step(self, real: torch.Tensor) -> tuple[float, float]:
        fake = self.G(torch.randn(len(real), 5))
        g_loss = -self.D(fake).mean()
        self.g_opt.zero_grad()
        g_loss.backward()
        self.g_opt.step()

        d_loss = torch.relu(1 - self.D(real)).mean() + torch.relu(1 + self.D(fake.detach())).mean()
        self.d_opt.zero_grad()
        d_loss.backward()
        self.d_opt.step()
        return d_loss.item(), g_loss.item()


torch.manual_seed(0)
gan = GAN()
for _ in range(9):
    d, g = gan.step(torch.randn(12, 3) + 1)
print(f"d {d:.4f} g {g:.4f}")
