# variant: accumulation with GroupNorm, whose statistics are per sample
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3)
).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
x, y = torch.randn(16, 1, 6, 6, dtype=torch.float64), torch.randint(0, 3, (16,))


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.cross_entropy(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(4):
    optimizer.zero_grad()
    for xb, yb in zip(x.chunk(4), y.chunk(4)):
        nn.functional.cross_entropy(model(xb), yb).div(4).backward()
    optimizer.step()

print(f"{nn.functional.cross_entropy(model(x), y).item():.4f}")
