# bug: B09
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
batches = [torch.randn(8, 5) for _ in range(11)]
accumulate = 4

for _ in range(3):
    optimizer.zero_grad()
    for i, x in enumerate(batches):
        size = min(accumulate, len(batches) - i // accumulate * accumulate)
        (F.cross_entropy(model(x), (x[:, 0] > 0).long()) / size).backward()
        if (i + 1) % accumulate == 0 or i + 1 == len(batches):
            optimizer.step()
            optimizer.zero_grad()
