# bug: B07
import torch
import torch.nn.functional as F
from torch import nn


class Classifier:
    def __init__(self, accumulate):
        self.accumulate = accumulate
        self.model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.3, momentum=0.9)

    def loss(self, x, y):
        return F.binary_cross_entropy_with_logits(self.model(x).squeeze(1), y) / self.accumulate

    def fit(self, batches):
        self.optimizer.zero_grad()
        for i, (x, y) in enumerate(batches):
            loss = self.loss(x, y)
            loss.backward()
            if (i + 1) % self.accumulate == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
                print(f"loss {loss.item() * self.accumulate:.3f}")


torch.manual_seed(0)
inputs = torch.randn(24, 8, 6)
Classifier(accumulate=4).fit([(x, (x[:, 0] > x[:, 1]).float()) for x in inputs])
