# bug: B244
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(7)
net_g = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3, padding=1), nn.PixelShuffle(2))
net_d = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(54, 1), nn.Sigmoid())
opt_g = torch.optim.Adam(net_g.parameters(), lr=2e-3)
opt_d = torch.optim.Adam(net_d.parameters(), lr=2e-3)
for step in range(12):
    real = torch.rand(6, 1, 8, 8)
    fake = net_g(F.avg_pool2d(real, 2))

    net_d.zero_grad()
    d_loss = 1 - net_d(real).mean() + net_d(fake.detach()).mean()
    d_loss.backward()
    opt_d.step()

    net_g.zero_grad()
    said = net_d(fake).mean()
    g_loss = F.mse_loss(fake, real) + 0.01 * torch.mean(1 - said)
    g_loss.backward()
    opt_g.step()
print(f"{d_loss.item():.3f} {g_loss.item():.3f}")
