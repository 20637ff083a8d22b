# variant: CosineAnnealingWarmRestarts is told the epoch and its share after every micro-batch, as documented.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
accumulate = 4
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3)
batches = [torch.randn(6, 4) for _ in range(12)]
for epoch in range(4):
    for i, x in enumerate(batches):
        loss = F.cross_entropy(model(x), (x[:, 0] > 0).long())
        (loss / accumulate).backward()
        if (i + 1) % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step(epoch + i / len(batches))
print(f"{loss.item():.4f}")
