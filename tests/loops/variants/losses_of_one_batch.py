# variant: three losses of one batch go backward one by one, a loss for each of two views, and a step for each batch
# window: 1
import torch
from torch import nn

torch.manual_seed(0)
trunk, heads = nn.Linear(6, 8), nn.ModuleList(nn.Linear(8, 1) for _ in range(3))
optimizer = torch.optim.SGD([*trunk.parameters(), *heads.parameters()], lr=0.05)
for step in range(10):
    x, targets = torch.randn(8, 6), torch.randn(3, 8, 1)
    optimizer.zero_grad()
    features = torch.tanh(trunk(x))
    for head, target in zip(heads, targets):
        nn.functional.mse_loss(head(features), target).backward(retain_graph=True)
    for view in (x, x + 0.1 * torch.randn(8, 6)):
        trunk(view).pow(2).mean().mul(0.1).backward()
    optimizer.step()
