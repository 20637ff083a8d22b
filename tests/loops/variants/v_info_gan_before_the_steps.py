# variant: the generator gets two losses, each through the other's trunk, which is cleared of the first; then all step
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1)
g = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 8))
trunk, real_or_fake, code = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2)), nn.Linear(16, 1), nn.Linear(16, 2)
opt_g = torch.optim.Adam(g.parameters(), lr=1e-3)
opt_code = torch.optim.Adam([*trunk.parameters(), *code.parameters()], lr=1e-3)
opt_d = torch.optim.Adam(real_or_fake.parameters(), lr=1e-3)

for step in range(20):
    c = torch.randn(16, 2)
    fake = g(torch.cat([torch.randn(16, 4), c], 1))
    seen = trunk(fake)
    opt_g.zero_grad()
    F.softplus(-real_or_fake(seen)).mean().backward(retain_graph=True)
    opt_code.zero_grad()
    F.mse_loss(code(seen), c).backward()
    opt_g.step()
    opt_code.step()
    opt_d.zero_grad()
    real = torch.randn(16, 8) + 1
    scores = real_or_fake(trunk(real).detach()), real_or_fake(trunk(fake.detach()).detach())
    (F.softplus(-scores[0]).mean() + F.softplus(scores[1]).mean()).backward()
    opt_d.step()
