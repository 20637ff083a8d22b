# bug: B64
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
netG = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
netD = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optG = torch.optim.Adam(netG.parameters(), lr=1e-3)
optD = torch.optim.Adam(netD.parameters(), lr=1e-3)
real_label, fake_label = torch.ones(8, 1), torch.zeros(8, 1)

for i in range(6):
    real = torch.randn(8, 6)
    fake = netG(torch.randn(8, 4))
    fake_score = netD(fake.detach())
    netD.zero_grad()
    errD = F.binary_cross_entropy_with_logits(netD(real), real_label)
    errD = errD + F.binary_cross_entropy_with_logits(fake_score, fake_label)
    errD.backward()
    optD.step()

    netG.zero_grad()
    fake_score = netD(fake)
    errG = F.binary_cross_entropy_with_logits(fake_score, real_label)
    errG.backward()
    optG.step()
print(errD.item(), errG.item())
