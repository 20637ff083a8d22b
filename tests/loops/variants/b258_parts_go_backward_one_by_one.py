# variant: the sum is shown, and each of its parts goes backward by itself, before the sum is made or after it
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
body, one, two = nn.Linear(6, 12), nn.Linear(12, 3), nn.Linear(12, 1)
optimizer = torch.optim.SGD([*body.parameters(), *one.parameters(), *two.parameters()], lr=0.05)
x, y, z = torch.randn(64, 6), torch.randint(3, (64,)), torch.randn(64, 1)
for epoch in range(5):
    shown = 0.0
    for at in range(0, 64, 16):
        rows = slice(at, at + 16)
        hidden = torch.tanh(body(x[rows]))
        classes = F.cross_entropy(one(hidden), y[rows])
        values = F.mse_loss(two(hidden), z[rows])
        total = classes + 0.5 * values
        optimizer.zero_grad()
        classes.backward(retain_graph=True)
        (0.5 * values).backward()
        optimizer.step()
        hidden = torch.tanh(body(x[rows]))
        optimizer.zero_grad()
        first = F.cross_entropy(one(hidden), y[rows])
        first.backward(retain_graph=True)
        second = F.mse_loss(two(hidden), z[rows])
        both = first + second
        second.backward()
        optimizer.step()
        shown = shown + both.detach() + total.item()
