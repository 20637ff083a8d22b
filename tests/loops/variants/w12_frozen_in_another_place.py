# variant: a function that freezes is left unused, and the script freezes itself; another one is handed on
import torch
from torch import nn


def freeze(part):
    for p in part.parameters():
        p.requires_grad = False


def thaw(part):
    for p in part.parameters():
        p.requires_grad = True


torch.manual_seed(0)
body, head = nn.Linear(6, 8), nn.Linear(8, 2)
for p in body.parameters():
    p.requires_grad = False
head.apply(thaw)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(16):
    x = torch.randn(16, 6)
    loss = nn.functional.mse_loss(head(torch.relu(body(x))), x[:, :2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
