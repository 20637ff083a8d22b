# variant: first WGAN: weights clamped through p.data after every critic step
import torch
from torch import nn

torch.manual_seed(0)
netG = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
netD = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizerD = torch.optim.RMSprop(netD.parameters(), lr=5e-3)
optimizerG = torch.optim.RMSprop(netG.parameters(), lr=5e-3)
one = torch.tensor([1.0])
mone = one * -1

for gen_iteration in range(4):
    for p in netD.parameters():
        p.requires_grad = True
    for j in range(2):
        for p in netD.parameters():
            p.data.clamp_(-0.1, 0.1)
        netD.zero_grad()
        errD_real = netD(torch.randn(16, 2) + 1).mean(0)
        errD_real.backward(one)
        with torch.no_grad():
            fake = netG(torch.randn(16, 4))
        errD_fake = netD(fake).mean(0)
        errD_fake.backward(mone)
        optimizerD.step()
    for p in netD.parameters():
        p.requires_grad = False
    netG.zero_grad()
    errG = netD(netG(torch.randn(16, 4))).mean(0)
    errG.backward(one)
    optimizerG.step()

print(f"{errD_real.item() - errD_fake.item():.4f} {errG.item():.4f}")
