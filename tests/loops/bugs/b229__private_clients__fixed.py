# bug: B229
"""Federated averaging over two clients; each adds noise to the weights that it sends."""

import copy

import torch
import torch.nn.functional as F
from torch import nn


class Client:
    def __init__(self, x, y, sigma):
        self.x, self.y, self.sigma = x, y, sigma

    def local_update(self, global_model, steps=4):
        model = copy.deepcopy(global_model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(steps):
            rows = torch.randint(0, len(self.x), (16,))
            optimizer.zero_grad()
            F.cross_entropy(model(self.x[rows]), self.y[rows]).backward()
            optimizer.step()
        self.add_noise(model)
        return model

    def add_noise(self, model):
        local_weights = model.state_dict()
        for key, value in local_weights.items():
            local_weights[key] = value + self.sigma * torch.randn_like(value)
        model.load_state_dict(local_weights)


torch.manual_seed(0)
x = torch.randn(80, 6)
y = x[:, :3].argmax(1)
clients = [Client(x[:40], y[:40], 0.01), Client(x[40:], y[40:], 0.01)]
global_model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
for communication_round in range(4):
    models = [client.local_update(global_model) for client in clients]
    with torch.no_grad():
        for p, *sent in zip(global_model.parameters(), *(m.parameters() for m in models)):
            p.copy_(torch.stack(sent).mean(0))
