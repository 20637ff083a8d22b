# bug: B255
import torch
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR

torch.manual_seed(0)
netG = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8))
netD = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizerG = optim.Adam(netG.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizerD = optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
schedulerG = StepLR(optimizerG, step_size=2, gamma=0.5)
schedulerD = StepLR(optimizerD, step_size=2, gamma=0.5)
bce = nn.BCEWithLogitsLoss()
data = torch.randn(48, 8) + 2
for epoch in range(5):
    for real in data.split(12):
        fake = netG(torch.randn(12, 6))
        optimizerD.zero_grad()
        loss = bce(netD(real), torch.ones(12, 1)) + bce(netD(fake.detach()), torch.zeros(12, 1))
        loss.backward()
        optimizerD.step()
        optimizerG.zero_grad()
        bce(netD(fake), torch.ones(12, 1)).backward()
        optimizerG.step()
    schedulerG.step()
    schedulerD.step()
