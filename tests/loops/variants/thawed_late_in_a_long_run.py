# variant: a long run in two phases; a layer joins the second optimizer when its windows have long been alike
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(4, 6), nn.Linear(6, 2)


def train(optimizer, steps):
    for _ in range(steps):
        x, y = torch.randn(4, 4), torch.randint(2, (4,))
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(torch.relu(body(x))), y).backward()
        optimizer.step()


train(torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1), 405)
body.requires_grad_(False)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
train(optimizer, 20)
body.requires_grad_(True)
optimizer.add_param_group({"params": body.parameters(), "lr": 0.01})
train(optimizer, 20)
