# variant: a loss that is not finite is replaced by a zero tied to the parameters, so every micro-batch goes backward
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
k = 4
batches = [(torch.randn(8, 6), torch.randn(8, 1)) for _ in range(40)]
for bad in (6, 11, 23, 32):
    batches[bad][1][0] = float("nan")

for i, (x, y) in enumerate(batches):
    loss = nn.functional.mse_loss(model(x), y)
    if not torch.isfinite(loss):
        print(f"batch {i} counts as zero")
        loss = 0.0 * sum(p.sum() for p in model.parameters())
    (loss / k).backward()
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
