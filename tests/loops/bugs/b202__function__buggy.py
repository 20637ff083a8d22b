# bug: B202
# id: summand-without-graph
import torch
from torch import nn


def train(body, head, rounds=12):
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05)
    for _ in range(rounds):
        x, y = torch.randn(16, 6), torch.randint(3, (16,))
        code = torch.relu(body(x))
        misfit = nn.functional.cross_entropy(head(code), y)
        sparse = code.abs().mean()
        total = 0.01 * float(sparse) + misfit  # <-- bug
        optimizer.zero_grad()
        total.backward()
        optimizer.step()


torch.manual_seed(0)
train(nn.Linear(6, 8), nn.Linear(8, 3))
