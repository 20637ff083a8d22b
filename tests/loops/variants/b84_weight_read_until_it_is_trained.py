# variant: the weight of a second loss is shown from the start, and gets its first gradient when that loss joins
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 2)
log_weight = nn.Parameter(torch.zeros(()))
optimizer = torch.optim.Adam([*model.parameters(), log_weight], lr=1e-2)
shown = []
for step in range(16):
    out = model(torch.randn(8, 6))
    loss = out[:, 0].pow(2).mean()
    if step >= 8:
        loss = loss + log_weight.exp() * out[:, 1].pow(2).mean() - log_weight
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    shown.append((loss.item(), log_weight.exp().item(), log_weight.item()))
