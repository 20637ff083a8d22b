# bug: B06
# id: loss-not-divided
# needs: reference
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
batches = [(torch.randn(6, 10), torch.randn(6, 2)) for _ in range(24)]
k = 4
seen = []  # micro-batches of the current window


def reference() -> dict[str, torch.Tensor]:
    x = torch.cat([x for x, _ in seen])
    y = torch.cat([y for _, y in seen])
    names, params = zip(*model.named_parameters())
    return dict(zip(names, torch.autograd.grad(F.mse_loss(model(x), y), params)))


for i, (x, y) in enumerate(batches):
    seen.append((x, y))
    loss = F.mse_loss(model(x), y)  # <-- bug
    loss.backward()  # <-- bug
    if (i + 1) % k == 0:
        optimizer.step()
        optimizer.zero_grad()
        seen.clear()

print(loss.item())
