# bug: B24
# id: backward-reaches-another-model
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 6))
discriminator = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)

for _ in range(8):
    opt_g.zero_grad()
    opt_d.zero_grad()  # <-- bug
    fake = generator(torch.randn(8, 4))
    g_loss = F.binary_cross_entropy_with_logits(discriminator(fake), ones)
    g_loss.backward()  # <-- bug
    opt_g.step()

    real = torch.randn(8, 6)
    d_loss = F.binary_cross_entropy_with_logits(discriminator(real), ones)
    d_loss = d_loss + F.binary_cross_entropy_with_logits(discriminator(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()
print(f"{d_loss.item():.4f}")
