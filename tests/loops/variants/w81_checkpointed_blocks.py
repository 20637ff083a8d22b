# variant: gradient checkpointing of every block, non-reentrant, dropout on
# window: 2
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Dropout(0.1)) for _ in range(3))
head = nn.Linear(8, 1)
optimizer = torch.optim.AdamW([*blocks.parameters(), *head.parameters()], lr=1e-2)
for step in range(4):
    optimizer.zero_grad()
    for _ in range(2):
        x = torch.randn(4, 8)
        h = x
        for block in blocks:
            h = h + checkpoint(block, h, use_reentrant=False)
        loss = (head(h) - x[:, :1]).pow(2).mean() / 2
        loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
