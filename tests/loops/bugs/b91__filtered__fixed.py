# bug: B91
import torch
from torch import nn


class Runner:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
        self.net[0].bias.requires_grad_(False)
        self.trainable = [p for p in self.net.parameters() if p.requires_grad]
        self.opt = torch.optim.AdamW([p for p in self.net.parameters() if p.requires_grad], lr=1e-2)

    def fit(self, steps):
        for _ in range(steps):
            x, y = torch.randn(16, 6), torch.randint(3, (16,))
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.trainable, max_norm=0.2)
            self.opt.step()


torch.manual_seed(0)
Runner().fit(10)
