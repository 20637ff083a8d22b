# bug: B132
import torch
from torch import nn
from torch.nn.functional import normalize

torch.manual_seed(5)
f, q = nn.Linear(10, 6), nn.Linear(6, 6)
optimizer = torch.optim.SGD([*f.parameters(), *q.parameters()], lr=0.1)
for x in torch.randn(12, 20, 10):
    y1, y2 = f(x + 0.2 * torch.randn_like(x)), f(x + 0.2 * torch.randn_like(x))
    with torch.no_grad():
        t1, t2 = normalize(y1, dim=1), normalize(y2, dim=1)
    one = 2 - 2 * (normalize(q(y1), dim=1) * t2).sum(1)
    other = 2 - 2 * (normalize(q(y2), dim=1) * t1).sum(1)
    loss = (one + other).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
