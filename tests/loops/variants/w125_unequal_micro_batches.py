# variant: micro-batches of 10, 8, 4 and 2 rows, each mean weighted by its rows
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x, y = torch.randn(24, 10, dtype=torch.float64), torch.randn(24, 2, dtype=torch.float64)
sizes = [10, 8, 4, 2]


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(6):
    optimizer.zero_grad()
    for xb, yb in zip(x.split(sizes), y.split(sizes)):
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward(gradient=torch.tensor(xb.size(0) / x.size(0), dtype=loss.dtype))
    optimizer.step()

print(f"{nn.functional.mse_loss(model(x), y).item():.6f}")
