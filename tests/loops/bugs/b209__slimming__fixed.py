# bug: B209
"""Network slimming: the scales of the norms are drawn to zero by a subgradient that is added by hand."""

import torch
import torch.nn.functional as F
from torch import nn


def add_sparsity(model, strength):
    for m in model.modules():
        if isinstance(m, nn.BatchNorm1d):
            m.weight.grad.data.add_(strength * torch.sign(m.weight.data))


def train(model, optimizer, batches, strength=0.02):
    model.train()
    for x, y in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        add_sparsity(model, strength)
        optimizer.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Linear(24, 3))
data = [(x, x[:, :3].argmax(1)) for x in torch.randn(12, 16, 6)]
train(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), data)
