# variant: differences of parameters: two layers held together, neighbours smoothed, an anchor of its own
import torch
from torch import nn

torch.manual_seed(0)
first, second, head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
parts = nn.ModuleList([first, second, head])
optimizer = torch.optim.Adam(parts.parameters(), lr=0.01)
anchor = [p.clone().detach() for p in parts.parameters()]
for _ in range(12):
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(head(first(x) + second(x)), x.sum(1, keepdim=True))
    together = sum(((a - b) ** 2).sum() for a, b in zip(first.parameters(), second.parameters()))
    smooth = (first.weight[1:] - first.weight[:-1]).pow(2).sum() + (second.weight - second.weight.T).pow(2).sum()
    kept = sum(nn.functional.mse_loss(p, old) for p, old in zip(parts.parameters(), anchor))
    rising = ((head.weight - head.weight.detach()) * 2.0).sum()
    optimizer.zero_grad()
    (loss + 0.1 * together + 0.1 * smooth + 0.01 * kept + 0.0 * rising).backward()
    optimizer.step()
