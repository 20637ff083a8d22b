# variant: (i + 1) % k or the last batch, with the size of the running window looked up for the division
# window: 4
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(60, 10, dtype=torch.float64), torch.randn(60, 2, dtype=torch.float64)
batches = list(zip(x.chunk(10), y.chunk(10)))
k, n = 4, len(batches)
rows = slice(0, 0)


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


optimizer.zero_grad()
for epoch in range(3):
    for i, (inputs, targets) in enumerate(batches):
        start = i - i % k
        window_size = min(k, n - start)
        rows = slice(6 * start, 6 * (start + window_size))
        loss = nn.functional.mse_loss(model(inputs), targets) / window_size
        loss.backward()
        if (i + 1) % k == 0 or (i + 1) == n:
            optimizer.step()
            optimizer.zero_grad()

print(f"{loss.item():.4f}")
