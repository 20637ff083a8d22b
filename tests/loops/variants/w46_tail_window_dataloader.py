# variant: DataLoader of 10 batches, the last one short, k = 4, 3 epochs: windows weighted by their rows
# window: 4
# reference: yes
from itertools import islice

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = torch.randn(77, 10, dtype=torch.float64), torch.randn(77, 1, dtype=torch.float64)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
window: list[list[torch.Tensor]] = []


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    xs, ys = torch.cat([b[0] for b in window]), torch.cat([b[1] for b in window])
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(xs), ys)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for epoch in range(3):
    stream = iter(loader)
    while window := list(islice(stream, 4)):
        rows = sum(len(inputs) for inputs, _ in window)
        optimizer.zero_grad()
        for inputs, targets in window:
            loss = nn.functional.mse_loss(model(inputs), targets, reduction="sum") / rows
            loss.backward()
        optimizer.step()

print(f"{nn.functional.mse_loss(model(x), y).item():.6f}")
