# variant: means over what a mask leaves, divided by the window and scaled, each over another count
import torch
import torch.nn.functional as F
from torch import nn

ACCUMULATE = 4

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(11, 16), nn.Linear(16, 11))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for index in range(24):
    tokens = torch.randint(0, 11, (4, 9))
    mask = (torch.arange(8) < torch.randint(3, 9, (4, 1))).float()
    nll = F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:], reduction="none")
    loss = (nll * mask).sum() / mask.sum() / ACCUMULATE
    scaler.scale(loss).backward()
    if (index + 1) % ACCUMULATE == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
print(f"{loss.item():.4f}")
