# bug: B25
import io

import torch
from torch import nn


def build(hidden):
    return nn.Sequential(nn.Linear(6, hidden), nn.Tanh(), nn.Linear(hidden, 1))


class Run:
    def __init__(self):
        self.model = build(16)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)

    def save(self, file):
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}, file)

    def resume(self, file):
        saved = torch.load(file)
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])

    def train(self, x, y):
        for rows in torch.arange(len(x)).split(8):
            loss = (self.model(x[rows]) - y[rows]).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


torch.manual_seed(0)
x = torch.randn(64, 6)
y = x[:, :1] * x[:, 1:2]
first, file = Run(), io.BytesIO()
first.train(x, y)
first.save(file)
file.seek(0)
second = Run()
second.resume(file)
second.train(x, y)
