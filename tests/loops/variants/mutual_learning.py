# variant: Two networks learn from the labels and from each other, each divergence with a graph on both sides.
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
one, other = nn.Linear(6, 3), nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3)).eval()
optimizer = torch.optim.Adam([*one.parameters(), *other.parameters()], lr=1e-2)
for _ in range(12):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    first, second = one(x), other(x)
    near = F.kl_div(F.log_softmax(first, 1), F.softmax(second, 1), reduction="batchmean")
    near = near + F.kl_div(F.log_softmax(second, 1), F.softmax(first, 1), reduction="batchmean")
    loss = F.cross_entropy(first, y) + F.cross_entropy(second, y) + near
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
