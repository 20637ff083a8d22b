# variant: tensor hooks registered once divide every incoming gradient by k
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
    # Copies, because hooks on the parameters themselves would divide this gradient too.
    copies = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
    with torch.enable_grad():
        loss = nn.functional.mse_loss(torch.func.functional_call(model, copies, (x,)), y)
    return dict(zip(copies, torch.autograd.grad(loss, list(copies.values())), strict=True))


for p in model.parameters():
    p.register_hook(lambda g: g / accumulation_steps)

for step in range(6):
    optimizer.zero_grad()
    for inputs, targets in micro_batches:
        criterion(model(inputs), targets).backward()
    optimizer.step()

print(f"loss {criterion(model(x), y).item():.6f}")
