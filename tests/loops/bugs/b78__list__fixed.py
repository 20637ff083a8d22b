# bug: B78
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
D = nn.Sequential(nn.Linear(3, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
d_opt = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
ones, zeros = torch.ones(12, 1), torch.zeros(12, 1)

for step in range(10):
    real = torch.randn(12, 3) * 0.5 + 1
    fake = G(torch.randn(12, 5))

    d_opt.zero_grad()
    real_score = D(real)
    fake_score = D(fake.detach())
    d_loss = F.binary_cross_entropy_with_logits(real_score, ones)
    d_loss = d_loss + F.binary_cross_entropy_with_logits(fake_score, zeros)
    d_loss.backward()
    d_opt.step()

    g_opt.zero_grad()
    g_loss = F.binary_cross_entropy_with_logits(D(fake), ones)
    g_loss.backward()
    g_opt.step()
print(f"d {d_loss.item():.4f} g {g_loss.item():.4f}")
