# variant: accumulation with BatchNorm frozen in eval mode: micro-batches equal the whole batch
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3)).double()
x, y = torch.randn(32, 6, dtype=torch.float64), torch.randint(0, 3, (32,))
with torch.no_grad():
    model(x)  # One pass in training mode fills the running statistics.
model.train()
for module in model.modules():
    if isinstance(module, nn.modules.batchnorm._BatchNorm):
        module.eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.cross_entropy(model(x), y)
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for step in range(5):
    optimizer.zero_grad()
    for xb, yb in zip(x.split(8), y.split(8)):
        loss = nn.functional.cross_entropy(model(xb), yb) / 4
        loss.backward()
    optimizer.step()

print(f"{nn.functional.cross_entropy(model(x), y).item():.4f}")
