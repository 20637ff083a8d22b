# variant: per-sample gradients by vmap, their mean assigned to p.grad
# reference: yes
import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
criterion = nn.MSELoss()
x = torch.randn(24, 10, dtype=torch.float64)
y = torch.randn(24, 2, dtype=torch.float64)


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values())), strict=True))


def loss_of(weights: dict[str, torch.Tensor], row: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return criterion(functional_call(model, weights, (row.unsqueeze(0),)), target.unsqueeze(0))


per_sample = vmap(grad(loss_of), in_dims=(None, 0, 0))
for step in range(6):
    weights = {name: p.detach() for name, p in model.named_parameters()}
    gradients = per_sample(weights, x, y)
    for name, p in model.named_parameters():
        p.grad = gradients[name].mean(0)
    optimizer.step()

print(f"loss {criterion(model(x), y).item():.6f}")
