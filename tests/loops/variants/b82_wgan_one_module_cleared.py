# variant: WGAN: no optimizer is ever cleared by itself, gan.zero_grad() clears both networks before each backward
import torch
from torch import nn

torch.manual_seed(0)
gan = nn.ModuleDict(
    {
        "G": nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)),
        "D": nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)),
    }
)
optimizer_g = torch.optim.RMSprop(gan["G"].parameters(), lr=5e-4)
optimizer_d = torch.optim.RMSprop(gan["D"].parameters(), lr=5e-4)

for i in range(12):
    real = torch.randn(16, 2) + 2
    gan.zero_grad()
    loss_d = gan["D"](gan["G"](torch.randn(16, 4)).detach()).mean() - gan["D"](real).mean()
    loss_d.backward()
    optimizer_d.step()
    for p in gan["D"].parameters():
        p.data.clamp_(-0.05, 0.05)
    if (i + 1) % 3 == 0:
        gan.zero_grad()
        loss_g = -gan["D"](gan["G"](torch.randn(16, 4))).mean()
        loss_g.backward()
        optimizer_g.step()
print(f"{loss_d.item():.4f} {loss_g.item():.4f}")
