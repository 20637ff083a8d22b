# bug: B295
# id: parameter-in-two-optimizers
from copy import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 16), nn.Linear(16, 2)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))


def local_steps(model, x, y, steps=4):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return {name: value.clone() for name, value in model.state_dict().items()}


torch.manual_seed(0)
server = Net()
finetuning = torch.optim.Adam(server.parameters(), lr=1e-3)
shards = [(torch.randn(32, 6), torch.randint(2, (32,))) for _ in range(3)]
held_out = torch.randn(32, 6), torch.randint(2, (32,))
for round_number in range(4):
    states = [local_steps(copy(server), x, y) for x, y in shards]  # <-- bug
    server.load_state_dict({key: sum(state[key] for state in states) / len(states) for key in states[0]})
    finetuning.zero_grad()
    nn.functional.cross_entropy(server(held_out[0]), held_out[1]).backward()
    finetuning.step()
