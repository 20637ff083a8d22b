# id: never-zeroed
# window: 3
"""The loop steps at each window's end and never clears."""

import torch
from torch import nn

ACCUMULATION = 3
torch.manual_seed(0)
batches = [(torch.randn(4, 6), torch.randint(0, 4, (4,))) for _ in range(24)]
model = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)

for index, (inputs, targets) in enumerate(batches):
    loss = nn.functional.cross_entropy(model(inputs), targets)
    (loss / ACCUMULATION).backward()  # <-- bug
    if (index + 1) % ACCUMULATION == 0:
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()  # <-- bug
