# variant: optimizer.step(closure) whose closure clears and accumulates the whole window
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


def closure() -> torch.Tensor:
    optimizer.zero_grad()
    total = torch.zeros((), dtype=torch.float64)
    for inputs, targets in micro_batches:
        loss = criterion(model(inputs), targets) / accumulation_steps
        loss.backward()
        total += loss.detach()
    return total


for step in range(6):
    loss = optimizer.step(closure)

print(f"loss {loss.item():.6f}")
