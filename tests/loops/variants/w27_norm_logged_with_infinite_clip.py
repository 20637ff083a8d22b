# variant: gradient norm read with clip_grad_norm_(..., inf) at every micro-batch, which multiplies by exactly one
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x, y = torch.randn(24, 10, dtype=torch.float64), torch.randn(24, 2, dtype=torch.float64)
norms: list[float] = []


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(4):
    optimizer.zero_grad(set_to_none=True)
    for xb, yb in zip(x.chunk(4), y.chunk(4)):
        loss = nn.functional.mse_loss(model(xb), yb)
        (loss / 4).backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf")).item())
    optimizer.step()

print(f"{loss.item():.4f} {max(norms):.4f}")
