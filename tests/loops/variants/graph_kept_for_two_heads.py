# variant: the features of one forward serve two losses with a step each, and each loss has a head of its own
import torch
from torch import nn

torch.manual_seed(0)
body, heads = nn.Linear(6, 8), nn.ModuleList([nn.Linear(8, 2), nn.Linear(8, 2)])
optimizer = torch.optim.SGD([{"params": heads.parameters()}], lr=0.05)
slow = torch.optim.SGD(body.parameters(), lr=0.01)
for _ in range(12):
    x, y = torch.randn(16, 6), torch.randn(2, 16, 2)
    h = body(x)
    slow.zero_grad()
    for head, target in zip(heads, y):
        optimizer.zero_grad()
        nn.functional.mse_loss(head(h), target).backward(retain_graph=True)
        optimizer.step()
    slow.step()
