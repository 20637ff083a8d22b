# bug: B204
import torch
from torch import nn


def set_rate(optimizer, step, warmup_steps=8):
    for group in optimizer.param_groups:
        group["lr"] = 0.02 * min(step**-0.5, step * warmup_steps**-1.5)


torch.manual_seed(0)
accumulation = 4
batches = [(torch.randn(4, 6), torch.randn(4, 1)) for _ in range(20)]
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
iteration = 0
for _ in range(3):
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y) / accumulation
        loss.backward()
        iteration += 1
        if iteration % accumulation == 0:
            set_rate(optimizer, iteration // accumulation)
            optimizer.step()
            optimizer.zero_grad()
            print(iteration // accumulation, f"{loss.item():.4f}")
