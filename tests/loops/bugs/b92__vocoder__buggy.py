# bug: B92
# id: clipped-another-model
import torch
import torch.nn.functional as F
from torch import nn


class Vocoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.LeakyReLU(0.2), nn.Linear(24, 8))

    def forward(self, mel):
        return self.body(mel)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))

    def forward(self, wave):
        return self.body(wave)


torch.manual_seed(0)
net_g, net_d = Vocoder(), Discriminator()
opt_g = torch.optim.Adam(net_g.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(net_d.parameters(), lr=1e-3, betas=(0.5, 0.9))
for step in range(24):
    mel = torch.randn(16, 6)
    wave = 4 * torch.cat([mel, mel[:, :2]], dim=1)
    fake = net_g(mel)

    loss_d = F.relu(1 + net_d(fake.detach())).mean() + F.relu(1 - net_d(wave)).mean()
    net_d.zero_grad()
    loss_d.backward()
    torch.nn.utils.clip_grad_norm_(net_d.parameters(), 0.01)
    opt_d.step()

    seen = fake
    loss_g = -net_d(seen).mean()
    net_g.zero_grad()
    loss_g.backward()
    torch.nn.utils.clip_grad_norm_(net_d.parameters(), 0.01)  # <-- bug
    opt_g.step()
print(f"{loss_d:.3f} {loss_g:.3f}")
