# bug: B216
# id: step-behind-loop
"""Federated learning: each client trains for two local epochs, and the weights are averaged."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Client:
    def __init__(self, x):
        self.loader = DataLoader(TensorDataset(x, x.argmax(1) % 3), batch_size=10)

    def train(self, model, epochs=2):
        model.train()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        seen = 0
        for _ in range(epochs):
            for batch_x, batch_y in self.loader:
                model.zero_grad()
                loss = nn.functional.cross_entropy(model(batch_x), batch_y)
                loss.backward()
                seen += len(batch_x)
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)  # <-- bug
            optimizer.step()  # <-- bug
        return model.state_dict(), seen


torch.manual_seed(3)
server = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
clients = [Client(torch.randn(40, 6)) for _ in range(3)]
for _ in range(3):
    states = [client.train(copy.deepcopy(server))[0] for client in clients]
    server.load_state_dict({key: sum(state[key] for state in states) / len(states) for key in states[0]})
