# bug: B36
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
head = nn.Linear(16, 2)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)

for _ in range(8):
    x, y = torch.randn(8, 10), torch.randn(8, 2)
    h = checkpoint(body, x, use_reentrant=False)
    loss = F.mse_loss(head(h), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
