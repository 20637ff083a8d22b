# bug: B161
"""Two views, an online network and a target network that follows it slowly."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Byol(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.predictor = nn.Linear(16, 16)

    def forward(self, one, other):
        with torch.no_grad():
            goal = F.normalize(self.target(other), dim=-1)
        return 2 - 2 * (F.normalize(self.predictor(self.online(one)), dim=-1) * goal).sum(-1).mean()

    @torch.no_grad()
    def follow(self, momentum=0.99):
        for mine, theirs in zip(self.online.parameters(), self.target.parameters()):
            theirs.lerp_(mine, 1 - momentum)


torch.manual_seed(3)
model = Byol()
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for step in range(50):
    x = torch.randn(64, 8)
    one, other = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    loss = model(one, other) + model(other, one)
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.follow()
    if step % 10 == 9:
        print(step, loss.item())
