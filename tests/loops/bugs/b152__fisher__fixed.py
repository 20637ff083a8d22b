# bug: B152
"""Elastic weight consolidation: a second task is learnt, and what mattered to the first is held."""

import torch
from torch import nn


class EWC:
    def __init__(self, model, data, criterion):
        self.model, self.criterion = model, criterion
        self.means = {n: p.detach().clone() for n, p in model.named_parameters()}
        self.fisher = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
        model.zero_grad()
        for x, y in data:
            model.zero_grad()
            criterion(model(x), y).backward()
            for n, p in model.named_parameters():
                self.fisher[n] += p.grad.detach() ** 2 / len(data)

    def penalty(self):
        named = self.model.named_parameters()
        return sum((self.fisher[n] * (p - self.means[n]) ** 2).sum() for n, p in named)


def learn(model, data, criterion, ewc=None, weight=10.0):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for x, y in data * 3:
        loss = criterion(model(x), y)
        if ewc is not None:
            loss = loss + weight * ewc.penalty()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 3))
inputs = torch.randn(12, 1, 5)
first = [(x, x[:, :3].argmax(1)) for x in inputs]
learn(model, first, nn.CrossEntropyLoss())
learn(model, [(x, x[:, 2:].argmax(1)) for x in inputs], nn.CrossEntropyLoss(), EWC(model, first, nn.CrossEntropyLoss()))
