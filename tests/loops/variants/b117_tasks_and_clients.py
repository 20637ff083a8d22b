# variant: an optimizer for each task or client, one step each, from weights that are put back or averaged
import copy

import torch
from torch import nn

torch.manual_seed(0)


def one_step(model, optimizer):
    x = torch.randn(8, 6)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    optimizer.step()


model = nn.Linear(6, 1)
for _ in range(8):  # Reptile
    before = copy.deepcopy(model.state_dict())
    one_step(model, torch.optim.Adam(model.parameters(), lr=0.01))
    after = model.state_dict()
    model.load_state_dict({name: before[name] + 0.5 * (after[name] - before[name]) for name in before})

shared, worker = nn.Linear(6, 1), nn.Linear(6, 1)
for _ in range(4):  # federated averaging, with one worker that plays all clients
    moved = [torch.zeros_like(p) for p in shared.parameters()]
    for _ in range(3):
        for mine, theirs in zip(worker.parameters(), shared.parameters()):
            mine.data.copy_(theirs.data)
        one_step(worker, torch.optim.SGD(worker.parameters(), lr=0.1, momentum=0.9))
        for sum_, mine in zip(moved, worker.parameters()):
            sum_ += mine.data
    for p, sum_ in zip(shared.parameters(), moved):
        p.data = sum_ / 3

start = copy.deepcopy(model.state_dict())
for _ in range(6):  # adapted to each sample from the same weights
    model.load_state_dict(start)
    one_step(model, torch.optim.Adam(model.parameters(), lr=0.01))

for _ in range(6):  # a model for each fold
    fold = nn.Linear(6, 1)
    one_step(fold, torch.optim.Adam(fold.parameters(), lr=0.01))

for _ in range(6):  # a code for each sample
    code = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.Adam([code], lr=0.1)
    (code - torch.randn(4)).pow(2).sum().backward()
    optimizer.step()

for attempt in range(8):  # a step that is taken back where it does not help
    before = copy.deepcopy(model.state_dict())
    one_step(model, torch.optim.Adam(model.parameters(), lr=0.01))
    if attempt % 2:
        model.load_state_dict(before)
