# bug: B284
# id: module-repeated
# severity: info
"""Several discriminators, of which there is one."""

import torch
import torch.nn.functional as F
from torch import nn


class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

    def forward(self, x):
        return self.body(x)


torch.manual_seed(0)
scales = (1, 2, 4)
judges = nn.ModuleList([Judge()] * len(scales))  # <-- bug
optimizer = torch.optim.Adam(judges.parameters(), lr=1e-3)
for _ in range(10):
    real, made = torch.randn(16, 8) + 1, torch.randn(16, 8)
    loss = 0
    for judge, scale in zip(judges, scales):
        loss = loss + F.softplus(judge(made / scale)).mean() + F.softplus(-judge(real / scale)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
