# bug: B255
# id: schedules-for-one-optimizer
import torch
from torch import nn
from torch.optim import lr_scheduler


class Separator:
    """Shape and colour are told apart by two networks, each with its own optimizer."""

    def __init__(self):
        self.shape = nn.Linear(5, 3)
        self.colour = nn.Linear(5, 3)
        self.optim_s = torch.optim.SGD(self.shape.parameters(), lr=0.1, momentum=0.9)
        self.optim_c = torch.optim.SGD(self.colour.parameters(), lr=0.1, momentum=0.9)
        self.sched_c = lr_scheduler.CosineAnnealingLR(self.optim_c, T_max=24)
        self.sched_s = lr_scheduler.CosineAnnealingLR(self.optim_c, T_max=24)  # <-- bug

    def step(self, x, y):
        total = nn.functional.mse_loss(self.shape(x) + self.colour(x).tanh(), y)
        self.optim_s.zero_grad()
        self.optim_c.zero_grad()
        total.backward()
        self.optim_s.step()
        self.optim_c.step()
        for scheduler in (self.sched_s, self.sched_c):
            scheduler.step()
        return total.item()


torch.manual_seed(1)
separator = Separator()
x, y = torch.randn(30, 5), torch.randn(30, 3)
for turn in range(24):
    at = torch.arange(turn % 3, 30, 3)
    separator.step(x[at], y[at])
