# variant: two networks learn from one another without a predictor, one of them as from a constant
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(6)
one, other = nn.Linear(7, 4), nn.Sequential(nn.Linear(7, 9), nn.ReLU(), nn.Linear(9, 4))
optimizer = torch.optim.SGD([*one.parameters(), *other.parameters()], lr=0.1)
for x in torch.randn(8, 20, 7):
    a, b = one(x), other(x)
    loss = F.mse_loss(a, b) + 0.5 * F.mse_loss(a, b.detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
