# variant: GAN whose fakes for D are made under no_grad, and made anew with a graph for G
import torch
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
D = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt, d_opt = torch.optim.Adam(G.parameters(), lr=2e-3), torch.optim.Adam(D.parameters(), lr=2e-3)
for step in range(9):
    noise = torch.randn(12, 5)
    real = torch.randn(12, 3) + 1
    with torch.no_grad():
        fake = G(noise)
    d_loss = nn.functional.softplus(-D(real)).mean() + nn.functional.softplus(D(fake)).mean()
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()

    g_loss = nn.functional.softplus(-D(G(noise))).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()

print(f"d {d_loss.item():.4f} g {g_loss.item():.4f}")
