# variant: the penalty on the weights backwarded on its own before the data loss
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 6, dtype=torch.float64), torch.randn(16, 1, dtype=torch.float64)


def penalty() -> torch.Tensor:
    return 1e-2 * sum(p.abs().sum() for p in model.parameters())


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y) + penalty()
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(6):
    optimizer.zero_grad()
    penalty().backward()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
