# variant: the window grows with training (1, 2, 4, 8 micro-batches), each window divided by its own size
# reference: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
xs: list[torch.Tensor] = []
ys: list[torch.Tensor] = []


def reference() -> dict[str, torch.Tensor]:
    named = dict(model.named_parameters())
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(torch.cat(xs)), torch.cat(ys))
    return dict(zip(named, torch.autograd.grad(loss, list(named.values()))))


for stage, accum in enumerate((1, 2, 4, 8)):
    for update in range(2):
        xs, ys = [], []
        for micro in range(accum):
            xs.append(torch.randn(4, 10, dtype=torch.float64))
            ys.append(torch.randn(4, 2, dtype=torch.float64))
            loss = nn.functional.mse_loss(model(xs[-1]), ys[-1]) / accum
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item() * accum:.4f}")
