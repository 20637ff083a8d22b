# bug: B235
"""Segmentation as DeepLab trains it: the body at a small rate, the head at ten times that."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU()), nn.Conv2d(8, 8, 3, padding=1)
        )
        self.head = nn.Conv2d(8, 4, 1)

    def forward(self, x):
        return self.head(self.body(x))


def body_params(model):
    yield from model.body.parameters()


torch.manual_seed(0)
model = Net()
groups = [{"params": list(body_params(model)), "lr": 0.01}, {"params": model.head.parameters(), "lr": 0.1}]
optimizer = torch.optim.SGD(groups, lr=0.01, momentum=0.9, weight_decay=5e-4)
for _ in range(10):
    images = torch.randn(4, 3, 12, 12)
    loss = nn.functional.cross_entropy(model(images), images.argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
