# bug: B289
# id: returned-in-first-turn
# severity: warning
import torch
import torch.nn.functional as F
from torch import nn


class PyramidLoss:
    """Compares two images at several scales."""

    def __init__(self, levels):
        self.levels = levels

    def __call__(self, a, b):
        loss = 0.0
        for level in range(self.levels):
            loss += F.l1_loss(a, b)
            a, b = F.avg_pool2d(a, 2), F.avg_pool2d(b, 2)
            return self.mean(loss)  # <-- bug

    def mean(self, loss):
        return loss / self.levels


def main():
    torch.manual_seed(3)
    net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 3, padding=1))
    compare = PyramidLoss(3)
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for _ in range(16):
        image = torch.rand(4, 1, 16, 16)
        loss = PyramidLoss.__call__(compare, net(image), image)
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
