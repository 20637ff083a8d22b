# variant: each block clears the other's gradients as well, at lines of their own
import torch
from torch import nn

torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 4))
critic = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 1))
opt_m = torch.optim.Adam(maker.parameters(), lr=1e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3)
bce = nn.functional.binary_cross_entropy_with_logits
for _ in range(15):
    fake = maker(torch.randn(8, 4))
    opt_m.zero_grad()
    opt_c.zero_grad()
    bce(critic(fake), torch.ones(8, 1)).backward()
    opt_m.step()
    opt_c.zero_grad()
    opt_m.zero_grad()
    real = torch.randn(8, 4) + 1
    (bce(critic(real), torch.ones(8, 1)) + bce(critic(fake.detach()), torch.zeros(8, 1))).backward()
    opt_c.step()
