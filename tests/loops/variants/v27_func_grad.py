# variant: torch.func.grad over functional_call, averaged and assigned to p.grad
# window: 4
# reference: yes
import torch
from torch import nn
from torch.func import functional_call, grad

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


def loss_of(weights: dict[str, torch.Tensor], inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return criterion(functional_call(model, weights, (inputs,)), targets)


gradient_of = grad(loss_of)
for step in range(6):
    weights = {name: p.detach() for name, p in model.named_parameters()}
    per_batch = [gradient_of(weights, inputs, targets) for inputs, targets in micro_batches]
    for name, p in model.named_parameters():
        p.grad = sum(g[name] for g in per_batch) / accumulation_steps
    optimizer.step()

print(f"loss {criterion(model(x), y).item():.6f}")
