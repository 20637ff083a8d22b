# variant: 10 batches, k = 4, 3 epochs: the tail of two is divided by two and stepped
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x, y = torch.randn(60, 10, dtype=torch.float64), torch.randn(60, 2, dtype=torch.float64)
batches = list(zip(x.chunk(10), y.chunk(10)))
k = 4
window: list[tuple[torch.Tensor, torch.Tensor]] = []


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    xs, ys = torch.cat([a for a, _ in window]), torch.cat([b for _, b in window])
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(xs), ys)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for epoch in range(3):
    for first in range(0, len(batches), k):
        window = batches[first : first + k]
        optimizer.zero_grad()
        for inputs, targets in window:
            (nn.functional.mse_loss(model(inputs), targets) / len(window)).backward()
        optimizer.step()

print(f"{nn.functional.mse_loss(model(x), y).item():.6f}")
