# variant: gradient norm logged after every micro-batch, by reading only
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x, y = torch.randn(48, 10, dtype=torch.float64), torch.randn(48, 2, dtype=torch.float64)
accumulation_steps = 4
history: list[float] = []
first = 0


def grad_norm(net: nn.Module) -> float:
    total = 0.0
    for p in net.parameters():
        if p.grad is not None:
            total += p.grad.detach().data.norm(2).item() ** 2
    return total**0.5


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    rows = slice(first, first + 24)
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for epoch in range(2):
    for batch_idx, (data, target) in enumerate(zip(x.split(6), y.split(6))):
        first = batch_idx // accumulation_steps * 24
        loss = nn.functional.mse_loss(model(data), target) / accumulation_steps
        loss.backward()
        history.append(grad_norm(model))
        if (batch_idx + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()

print(" ".join(f"{n:.2f}" for n in history[:8]))
