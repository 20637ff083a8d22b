# variant: two optimizers that share no parameter, cleared and stepped together
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizers = [torch.optim.AdamW(model[0].parameters(), lr=1e-2), torch.optim.AdamW(model[2].parameters(), lr=1e-2)]
criterion = nn.MSELoss()
x = torch.randn(24, 10, dtype=torch.float64)
y = torch.randn(24, 2, dtype=torch.float64)
micro_batches = list(zip(x.chunk(4), y.chunk(4), strict=True))
accumulation_steps = 4

step = -1
kept: dict[int, dict[str, torch.Tensor]] = {}


def reference() -> dict[str, torch.Tensor]:
    # Kept per step: the second optimizer steps after the first has moved its half of the model.
    if step not in kept:
        named = dict(model.named_parameters())
        with torch.enable_grad():
            loss = nn.functional.mse_loss(model(x), y)
        kept[step] = dict(zip(named, torch.autograd.grad(loss, list(named.values())), strict=True))
    return kept[step]


for step in range(6):
    for o in optimizers:
        o.zero_grad()
    for inputs, targets in micro_batches:
        (criterion(model(inputs), targets) / accumulation_steps).backward()
    for o in optimizers:
        o.step()

print(f"loss {criterion(model(x), y).item():.6f}")
