# bug: B297
# id: summand-without-graph
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Bootstrap(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(6, dim), nn.ReLU(), nn.Linear(dim, dim))
        self.predictor = nn.Linear(dim, dim)
        self.target = copy.deepcopy(self.online).requires_grad_(False)

    def forward(self, one, other):
        z1 = self.online(one)
        p1 = self.predictor(z1)
        with torch.no_grad():
            z2 = self.target(other)
            p2 = self.predictor(z2)  # <-- bug
        return z1, z2, p1, p2

    @staticmethod
    def compute_loss(z1, z2, p1, p2):
        loss = F.mse_loss(p1, z2.detach()) + F.mse_loss(p2, z1.detach())
        return loss

    @torch.no_grad()
    def follow(self, tau=0.99):
        for mine, theirs in zip(self.target.parameters(), self.online.parameters(), strict=True):
            mine.lerp_(theirs, 1 - tau)


def main():
    torch.manual_seed(0)
    net = Bootstrap()
    optimizer = torch.optim.AdamW([*net.online.parameters(), *net.predictor.parameters()], lr=1e-3)
    for _ in range(20):
        x = torch.randn(16, 6)
        z1, z2, p1, p2 = net(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
        loss = Bootstrap.compute_loss(z1, z2, p1, p2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        net.follow()


main()
