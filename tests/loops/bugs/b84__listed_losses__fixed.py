# bug: B84
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
trunk, heads = nn.Linear(6, 12), nn.ModuleList([nn.Linear(12, 2), nn.Linear(12, 2)])
log_var = nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters(), log_var], lr=1e-2)


def weighed(losses):
    values = torch.stack(losses)
    return (torch.exp(-log_var) * values + log_var).sum()


shown = [0.0, 0.0]
for _ in range(24):
    x = torch.randn(16, 6)
    hidden = trunk(x).relu()
    losses = [F.cross_entropy(head(hidden), (x[:, at] > 0).long()) for at, head in enumerate(heads)]
    optimizer.zero_grad()
    weighed(losses).backward()
    optimizer.step()
    shown = [total + loss.item() for total, loss in zip(shown, losses)]
print(shown)
