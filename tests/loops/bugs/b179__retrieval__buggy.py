# bug: B179
# id: norm-without-graph
import torch
from torch import nn
from torch.nn import functional as F


def l2norm(x):
    length = x.data.pow(2).sum(1, keepdim=True).sqrt()  # <-- bug
    return torch.div(x, length + 1e-8)


torch.manual_seed(1)
queries = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
items = nn.Linear(8, 8)
optimizer = torch.optim.SGD([*queries.parameters(), *items.parameters()], lr=0.1)
for _ in range(8):
    x = torch.randn(16, 8)
    a, b = l2norm(queries(x)), F.normalize(items(x + 0.1 * torch.randn_like(x)))
    loss = F.cross_entropy(a @ b.T / 0.1, torch.arange(16))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
