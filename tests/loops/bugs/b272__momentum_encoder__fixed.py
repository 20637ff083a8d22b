# bug: B272
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 12, 3, padding=1)
        self.norm = nn.BatchNorm1d(12)
        self.head = nn.Linear(12, 8)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean(2))


class Bootstrap:
    def __init__(self):
        self.online = Encoder()
        self.predictor = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
        self.momentum = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.SGD([*self.online.parameters(), *self.predictor.parameters()], lr=0.05)

    @torch.no_grad()
    def follow(self, tau=0.95):
        for slow, fast in zip(self.momentum.parameters(), self.online.parameters()):
            slow.lerp_(fast, 1 - tau)

    def step(self, series):
        one, two = series + 0.1 * torch.randn_like(series), series.flip(2)
        with torch.no_grad():
            wanted = self.momentum(two)
        loss = 2 - 2 * F.cosine_similarity(self.predictor(self.online(one)), wanted).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.follow()
        return loss.item()


torch.manual_seed(8)
learner = Bootstrap()
for _ in range(16):
    loss = learner.step(torch.randn(12, 2, 10) + torch.linspace(0, 2, 10))
print(f"{loss:.4f}")
