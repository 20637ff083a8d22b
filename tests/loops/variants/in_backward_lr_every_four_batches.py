# variant: optimizer in the backward without accumulation; rates are set and the log is written every four batches
import math

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizers = {p: torch.optim.AdamW([p], lr=1e-2) for p in model.parameters()}


def update(p: torch.Tensor) -> None:
    optimizers[p].step()
    optimizers[p].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(update)

running = 0.0
for i in range(16):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    running += loss.item()
    if (i + 1) % 4 == 0:
        for optimizer in optimizers.values():
            optimizer.param_groups[0]["lr"] = 1e-2 * 0.5 * (1 + math.cos(math.pi * i / 16))
        print(f"{i + 1}: {running / 4:.4f}")
        running = 0.0
