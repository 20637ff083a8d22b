# variant: torch.autograd.grad, averaged and assigned to p.grad; nothing is ever cleared
# window: 4
# reference: yes
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


params = list(model.parameters())
for step in range(6):
    sums = [torch.zeros_like(p) for p in params]
    for inputs, targets in micro_batches:
        for total, g in zip(sums, torch.autograd.grad(criterion(model(inputs), targets), params), strict=True):
            total += g / accumulation_steps
    for p, total in zip(params, sums, strict=True):
        p.grad = total
    optimizer.step()

print(f"loss {criterion(model(x), y).item():.6f}")
