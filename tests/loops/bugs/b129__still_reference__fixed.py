# bug: B129
"""Adapting a network to new data while it stays close to what it was: its old features are the reference."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
network = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 12))
classifier = nn.Linear(12, 3)
old_model = copy.deepcopy(network)
old_model.requires_grad_(False).eval()
optimizer = torch.optim.SGD([*network.parameters(), *classifier.parameters()], lr=0.05, momentum=0.9)
for epoch in range(3):
    for _ in range(5):
        rows, labels = torch.randn(16, 10), torch.randint(0, 3, (16,))
        optimizer.zero_grad()
        features = network(rows)
        with torch.no_grad():
            before = old_model(rows)
        loss = F.cross_entropy(classifier(features), labels) + 0.1 * F.mse_loss(features, before)
        loss.backward()
        optimizer.step()
