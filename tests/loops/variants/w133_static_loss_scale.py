# variant: a static loss scale by hand: loss times 1024, gradients divided by 1024 once before clip and step
# window: 2
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x, y = torch.randn(16, 6, dtype=torch.float64), torch.randn(16, 1, dtype=torch.float64)
loss_scale = 1024.0


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(5):
    optimizer.zero_grad()
    for xb, yb in zip(x.chunk(2), y.chunk(2)):
        loss = nn.functional.mse_loss(model(xb), yb) / 2
        (loss * loss_scale).backward()
    for p in model.parameters():
        p.grad.data.div_(loss_scale)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1e6)
    optimizer.step()

print(f"{loss.item():.4f}")
