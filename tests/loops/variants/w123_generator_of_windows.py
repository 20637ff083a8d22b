# variant: the loop turned inside out: a generator yields after each window, the caller steps and clears
# window: 3
from collections.abc import Iterator

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


def windows(count: int) -> Iterator[float]:
    for _ in range(count):
        total = 0.0
        for _ in range(3):
            x = torch.randn(8, 6)
            loss = (model(x) - x[:, :1]).pow(2).mean() / 3
            loss.backward()
            total += loss.item()
        yield total


for value in windows(4):
    optimizer.step()
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad = None

print(f"{value:.4f}")
