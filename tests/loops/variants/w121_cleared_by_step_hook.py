# variant: cleared by a hook that runs after every optimizer step; the loop itself never clears
# window: 2
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)).double()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
optimizer.register_step_post_hook(lambda opt, args, kwargs: opt.zero_grad())
x, y = torch.randn(16, 6, dtype=torch.float64), torch.randn(16, 1, dtype=torch.float64)


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(5):
    for xb, yb in zip(x.chunk(2), y.chunk(2)):
        loss = nn.functional.mse_loss(model(xb), yb) / 2
        loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
