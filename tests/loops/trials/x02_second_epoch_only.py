# truth: zeroed-before-step
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""After the warm-up epoch another branch of the loop runs, and that one clears too early."""
from dataclasses import dataclass, field


@dataclass
class Engine:
    net: nn.Module
    opt: torch.optim.Optimizer
    epoch: int = 0
    seen: list = field(default_factory=list)

    def train_one(self, x):
        loss = F.mse_loss(self.net(x), x.sum(1, keepdim=True))
        if self.epoch == 0:
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        else:
            loss.backward()
            self.opt.zero_grad()  # <-- bug
        self.opt.step()
        self.seen.append(loss.item())


net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
e = Engine(net, torch.optim.NAdam(net.parameters(), lr=1e-3))
for e.epoch in range(3):
    for _ in range(5):
        e.train_one(torch.randn(8, 6))
