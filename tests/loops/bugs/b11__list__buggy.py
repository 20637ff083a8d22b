# bug: B11
# id: tail-divided-by-full-window
# needs: reference
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
k = 4
batches = [(torch.randn(6, 10), torch.randn(6, 2)) for _ in range(7)]
n = len(batches)
done = []


def reference() -> dict[str, torch.Tensor]:
    x, y = torch.cat([a for a, _ in done]), torch.cat([b for _, b in done])
    names = [name for name, _ in model.named_parameters()]
    return dict(zip(names, torch.autograd.grad(F.mse_loss(model(x), y), list(model.parameters()))))


for epoch in range(6):
    for i, (x, y) in enumerate(batches):
        done.append((x, y))
        loss = F.mse_loss(model(x), y) / k  # <-- bug
        loss.backward()  # <-- bug
        if (i + 1) % k == 0 or (i + 1) == n:
            optimizer.step()
            optimizer.zero_grad()
            done.clear()
