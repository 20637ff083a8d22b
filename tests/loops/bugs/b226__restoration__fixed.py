# bug: B226
import torch
import torch.nn.functional as F
from torch import nn

# Restoration with an adversarial term: the generator's criterion holds the discriminator.


class Restored(nn.Module):
    def __init__(self, judge, weight=0.05):
        super().__init__()
        self.judge = judge
        self.near = nn.L1Loss()
        self.weight = weight

    def forward(self, made, clean):
        score = self.judge(made)
        return self.near(made, clean) + self.weight * F.softplus(-score).mean()


torch.manual_seed(4)
restorer = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 6))
judge = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
criterion = Restored(judge)
opt_r = torch.optim.Adam(restorer.parameters(), lr=2e-3)
opt_j = torch.optim.Adam(judge.parameters(), lr=2e-3)
for step in range(16):
    clean = torch.randn(20, 6).cumsum(1)
    made = restorer(clean + 0.3 * torch.randn_like(clean))
    loss_j = F.softplus(-judge(clean)).mean() + F.softplus(judge(made.detach())).mean()
    opt_j.zero_grad()
    loss_j.backward()
    opt_j.step()
    loss_r = criterion(made, clean)
    opt_r.zero_grad()
    loss_r.backward()
    opt_r.step()
