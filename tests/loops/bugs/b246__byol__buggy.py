# bug: B246
# id: average-never-updated
import copy

import torch
import torch.nn.functional as F
from torch import nn


class Learner(nn.Module):
    """Self-supervised: the online network predicts what a slowly moving copy of it says."""

    def __init__(self, decay=0.99):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 8))
        self.predictor = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.decay = decay

    def update_moving_average(self):
        for old, new in zip(self.target.parameters(), self.online.parameters()):
            old.data = self.decay * old.data + (1 - self.decay) * new.data

    def forward(self, x):
        one, two = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
        said = self.predictor(self.online(one))
        with torch.no_grad():
            wanted = self.target(two)
        return 2 - 2 * F.cosine_similarity(said, wanted, dim=-1).mean()


torch.manual_seed(0)
learner = Learner()
opt = torch.optim.Adam(learner.parameters(), lr=1e-3)
for it in range(24):
    loss = learner(torch.randn(32, 12))
    opt.zero_grad()
    loss.backward()
    opt.step()  # <-- bug
    if it % 8 == 7:
        print(it, loss.item())
