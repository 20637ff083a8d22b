# bug: B74
import torch
import torch.nn.functional as F
from torch import nn


class Classifier:
    def __init__(self, inputs, classes):
        self.net = nn.Sequential(nn.Linear(inputs, 16), nn.ReLU(), nn.Linear(16, classes))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def fit(self, x, y, epochs):
        for _ in range(epochs):
            for a, b in zip(x.split(16), y.split(16), strict=True):
                self.optimizer.zero_grad()
                loss = F.cross_entropy(self.net(a), b)
                loss.backward()
                self.optimizer.step()


torch.manual_seed(0)
x = torch.randn(96, 6)
Classifier(6, 3).fit(x, x[:, :3].argmax(1), epochs=8)
