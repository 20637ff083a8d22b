# variant: a while loop that counts micro-batches itself and takes them from an endless iterator
# window: 4
# reference: yes
import itertools

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
criterion = nn.MSELoss()
x = torch.randn(24, 10, dtype=torch.float64)
y = torch.randn(24, 2, dtype=torch.float64)
micro_batches = list(zip(x.chunk(4), y.chunk(4), strict=True))
accumulation_steps = 4


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values())), strict=True))


stream = itertools.cycle(micro_batches)
steps, seen = 0, 0
while steps < 6:
    inputs, targets = next(stream)
    (criterion(model(inputs), targets) / accumulation_steps).backward()
    seen += 1
    if seen == accumulation_steps:
        optimizer.step()
        optimizer.zero_grad()
        steps += 1
        seen = 0

print(f"loss {criterion(model(x), y).item():.6f}")
