# variant: own main_grad buffer, p.grad emptied at every micro-batch (Megatron style)
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


for p in model.parameters():
    p.main_grad = torch.zeros_like(p, dtype=torch.float64)

for step in range(6):
    for p in model.parameters():
        p.main_grad.zero_()
    for inputs, targets in micro_batches:
        (criterion(model(inputs), targets) / accumulation_steps).backward()
        for p in model.parameters():
            p.main_grad.add_(p.grad)
            p.grad = None
    for p in model.parameters():
        p.grad = p.main_grad
    optimizer.step()
    optimizer.zero_grad()

print(f"loss {criterion(model(x), y).item():.6f}")
