# bug: B213
"""The average is a module that holds the model, too: it puts the copy alone into eval mode."""

import copy

import torch
from torch import nn


class Average(nn.Module):
    def __init__(self, online):
        super().__init__()
        self.online = online
        self.smooth = copy.deepcopy(online).requires_grad_(False)
        self.smooth.eval()

    @torch.no_grad()
    def update(self):
        for mine, theirs in zip(self.smooth.parameters(), self.online.parameters()):
            mine.mul_(0.9).add_(theirs, alpha=0.1)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 3))
    model.train()
    average = Average(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(12):
        x = torch.randn(16, 6)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
        optimizer.step()
        average.update()


main()
