# variant: both players in one backward: each loss reaches its own player alone, one clear helper for both optimizers
import torch
from torch import nn


def clear(*optimizers):
    for optimizer in optimizers:
        optimizer.zero_grad(set_to_none=False)


torch.manual_seed(6)
G = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 2))
D = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3)
for step in range(12):
    real, z = torch.randn(16, 2) * 0.5 + 1, torch.randn(16, 3)
    clear(opt_g, opt_d)
    fake = G(z)
    loss_d = D(fake.detach()).mean() - D(real).mean() + 0.1 * D(real).square().mean()
    frozen = {name: p.detach() for name, p in D.named_parameters()}
    loss_g = -torch.func.functional_call(D, frozen, (fake,)).mean()
    (loss_d + loss_g).backward()
    opt_d.step()
    opt_g.step()
print(f"{loss_d.item():.4f} {loss_g.item():.4f}")
