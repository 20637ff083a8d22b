# variant: each task's mean counts the same, however much data it has in a batch; the passes reach heads of their own
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
heads = nn.ModuleList(nn.Linear(16, 3) for _ in range(3))
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], 1e-3)
for _ in range(12):
    optimizer.zero_grad()
    for head, size in zip(heads, (32, 16, 8), strict=True):
        x = torch.randn(size, 6)
        loss = F.cross_entropy(head(trunk(x)), x[:, :3].argmax(1))
        (loss / len(heads)).backward()
    optimizer.step()
