# variant: WGAN: D's gradients dropped by hand (p.grad = None), D frozen in G's pass, G cleared by its optimizer
import torch
from torch import nn

torch.manual_seed(8)
netG = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
netD = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(netD.parameters(), lr=1e-3, betas=(0.5, 0.9))


def critic_round(n_critic=2):
    for _ in range(n_critic):
        for p in netD.parameters():
            p.grad = None
        real, z = torch.randn(16, 2) + 2, torch.randn(16, 4)
        (-netD(real).mean()).backward()
        netD(netG(z).detach()).mean().backward()
        opt_d.step()
        with torch.no_grad():
            for p in netD.parameters():
                p.clamp_(-0.05, 0.05)


for i in range(8):
    netD.requires_grad_(True)
    critic_round()
    netD.requires_grad_(False)
    opt_g.zero_grad()
    loss_g = -netD(netG(torch.randn(16, 4))).mean()
    loss_g.backward()
    opt_g.step()
print(f"{loss_g.item():.4f}")
