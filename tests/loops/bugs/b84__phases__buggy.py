# bug: B84
# id: graph-cut
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(4, 6), nn.Linear(6, 2)


def train(optimizer, frozen, steps):
    for _ in range(steps):
        x, y = torch.randn(4, 4), torch.randint(2, (4,))
        features = body(x)  # <-- bug
        if frozen:
            features = features.detach()  # <-- bug
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(features), y).backward()
        optimizer.step()


train(torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1), False, 405)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
train(optimizer, True, 12)
optimizer.add_param_group({"params": body.parameters(), "lr": 0.01})
train(optimizer, True, 12)
