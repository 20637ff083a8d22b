# variant: the rate is written into optimizer.defaults, for groups that are added later, and into those that there are
import math

import torch
from torch import nn


def set_lr(optimizer, lr):
    optimizer.defaults["lr"] = lr
    for group in optimizer.param_groups:
        group["lr"] = lr


torch.manual_seed(0)
body = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
head = nn.Linear(24, 3)
body.requires_grad_(False)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(96, 6)
y = x[:, ::2].argmax(1)

epochs = 8
for epoch in range(epochs):
    set_lr(optimizer, 0.05 * (1 + math.cos(math.pi * epoch / epochs)))
    if epoch == 3:  # from here on the body is trained as well, at the rate that holds now
        body.requires_grad_(True)
        optimizer.add_param_group({"params": body.parameters()})
    for rows in torch.randperm(96).split(24):
        loss = nn.functional.cross_entropy(head(body(x[rows])), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
