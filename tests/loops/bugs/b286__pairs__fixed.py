# bug: B286
import torch
import torch.nn.functional as F
from torch import nn


class Ranker:
    def __init__(self):
        self.score = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        self.optimizer = torch.optim.SGD(self.score.parameters(), lr=0.05, momentum=0.9)
        self.history = []

    def loss_of(self, better, worse):
        return -F.logsigmoid(self.score(better) - self.score(worse)).mean()

    def record(self, loss, every=4):
        self.history.append(loss.item())
        if len(self.history) % every:
            return
        mean = sum(self.history[-every:]) / every
        print(f"{mean:.4f}")

    def fit(self, rounds):
        for _ in range(rounds):
            better = torch.randn(12, 8) + 0.2
            worse = torch.randn(12, 8) - 0.2
            loss = self.loss_of(better, worse)
            self.optimizer.zero_grad()
            loss.backward()
            self.record(loss)
            self.optimizer.step()


torch.manual_seed(2)
Ranker().fit(32)
