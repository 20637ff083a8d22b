# bug: B23
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
shared = nn.Linear(10, 8)
head_a, head_b = nn.Linear(8, 1), nn.Linear(8, 3)
opt_a = torch.optim.SGD([*shared.parameters(), *head_a.parameters()], lr=0.1)
opt_b = torch.optim.SGD(head_b.parameters(), lr=0.1)

for _ in range(8):
    x = torch.randn(8, 10)
    h = torch.relu(shared(x))
    loss = F.mse_loss(head_a(h), x[:, :1]) + F.cross_entropy(head_b(h), x[:, :3].argmax(1))
    opt_a.zero_grad()
    opt_b.zero_grad()
    loss.backward()
    opt_a.step()
    opt_b.step()
print(loss.item())
