# bug: B278
# id: state-not-restored
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn


class Trainer:
    def __init__(self, folder):
        self.path = Path(folder) / "last.pt"
        self.net = nn.Linear(4, 2)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.opt, step_size=2, gamma=0.5)
        self.epoch = 0

    def save(self):
        state = {"net": self.net.state_dict(), "opt": self.opt.state_dict(), "epoch": self.epoch}
        state["schedule"] = self.schedule.state_dict()
        torch.save(state, self.path)

    def restore(self):
        state = torch.load(self.path)
        self.net.load_state_dict(state["net"])  # <-- bug
        self.opt.load_state_dict(state["opt"])  # <-- bug
        self.epoch = state["epoch"]

    def fit(self, epochs):
        while self.epoch < epochs:
            for _ in range(4):
                x = torch.randn(8, 4)
                loss = F.cross_entropy(self.net(x), (x[:, 0] > 0).long())
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            self.schedule.step()
            self.epoch += 1
            self.save()


torch.manual_seed(2)
with tempfile.TemporaryDirectory() as folder:
    Trainer(folder).fit(3)
    again = Trainer(folder)
    again.restore()
    again.fit(6)
