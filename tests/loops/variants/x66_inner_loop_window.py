# variant: the continue belongs to an inner loop over the window; the step stands after it and is always reached
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
batches = [(torch.randn(5, 6), torch.randn(5, 1)) for _ in range(40)]
for bad in (3, 9, 23, 24):
    batches[bad][0][0] = float("nan")
k = 4
for first in range(0, len(batches), k):
    optimizer.zero_grad()
    good = sum(x.isfinite().all().item() for x, _ in batches[first : first + k])
    for x, y in batches[first : first + k]:
        loss = nn.functional.mse_loss(model(x), y)
        if torch.isnan(loss):
            continue
        (loss / good).backward()
    optimizer.step()

print(f"{loss.item():.4f}")
