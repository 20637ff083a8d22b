# bug: B82
import torch
from torch import nn

torch.manual_seed(0)
netG = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
netD = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer_g = torch.optim.RMSprop(netG.parameters(), lr=5e-4)
optimizer_d = torch.optim.RMSprop(netD.parameters(), lr=5e-4)
n_critic, clip_value = 3, 0.05

for i in range(12):
    real = torch.randn(16, 2) + 2
    fake = netG(torch.randn(16, 4)).detach()
    loss_d = netD(fake).mean() - netD(real).mean()
    optimizer_d.zero_grad()
    loss_d.backward()
    optimizer_d.step()
    for p in netD.parameters():
        p.data.clamp_(-clip_value, clip_value)

    if (i + 1) % n_critic == 0:
        optimizer_g.zero_grad()
        loss_g = -netD(netG(torch.randn(16, 4))).mean()
        loss_g.backward()
        optimizer_g.step()
print(f"{loss_d.item():.4f} {loss_g.item():.4f}")
