# variant: a running loss summed with detach() for the log, kept far from backward
# window: 4
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
running = torch.zeros(())
for i in range(16):
    x = torch.randn(4, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    running += loss.detach()
    (loss / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
        average, running = running.item() / 4, torch.zeros(())

print(f"{average:.4f}")
