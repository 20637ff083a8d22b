# bug: B92
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
netG = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
netD = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optG = torch.optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
optD = torch.optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
loader = DataLoader(torch.randn(160, 2) * 0.3 + 2, batch_size=16, shuffle=True)

for real in loader:
    netD.requires_grad_(True)
    fake = netG(torch.randn(real.shape[0], 4))
    lossD = F.softplus(-netD(real)).mean() + F.softplus(netD(fake.detach())).mean()
    optD.zero_grad()
    lossD.backward()
    nn.utils.clip_grad_norm_(netD.parameters(), 0.1)
    optD.step()

    netD.requires_grad_(False)  # the generator's loss only passes through it
    lossG = F.softplus(-netD(fake)).mean()
    optG.zero_grad()
    lossG.backward()
    nn.utils.clip_grad_norm_(netG.parameters(), 0.1)
    optG.step()
print(f"D {lossD.item():.3f} G {lossG.item():.3f}")
