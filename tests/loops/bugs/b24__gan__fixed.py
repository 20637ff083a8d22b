# bug: B24
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
D = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_opt = torch.optim.SGD(G.parameters(), lr=0.05)
d_opt = torch.optim.SGD(D.parameters(), lr=0.05)
ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)

for _ in range(8):
    g_opt.zero_grad()
    d_opt.zero_grad()

    real, fake = torch.randn(8, 6) + 2, G(torch.randn(8, 4))
    d_fake = D(fake.detach())
    d_loss = F.binary_cross_entropy_with_logits(D(real), ones) + F.binary_cross_entropy_with_logits(d_fake, zeros)
    d_loss.backward()
    d_opt.step()

    g_loss = F.binary_cross_entropy_with_logits(D(G(torch.randn(8, 4))), ones)
    g_loss.backward()
    g_opt.step()
print(f"D {d_loss.item():.3f} G {g_loss.item():.3f}")
