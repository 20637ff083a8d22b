# bug: B201
# id: eval-mode-taken-back
"""The batch norms of a network are frozen one by one, in a function that is called too early."""

import torch
from torch import nn


def freeze_norms(network):
    for layer in network.modules():
        if isinstance(layer, nn.BatchNorm1d):
            layer.training = False


def run(network, batches, optimizer, epochs=3):
    for _ in range(epochs):
        freeze_norms(network)  # <-- bug
        network.train()  # <-- bug
        for x, y in batches:
            optimizer.zero_grad()
            nn.functional.mse_loss(network(x).squeeze(1), y).backward()
            optimizer.step()
        network.eval()
        with torch.no_grad():
            print(sum(nn.functional.mse_loss(network(x).squeeze(1), y).item() for x, y in batches))


torch.manual_seed(1)
net = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 16), nn.BatchNorm1d(16), nn.Tanh())
net.append(nn.Linear(16, 1))
data = torch.randn(40, 5)
pairs = [(x, x.sum(1)) for x in data.split(8)]
run(net, pairs, torch.optim.Adam(net.parameters(), lr=1e-2))
