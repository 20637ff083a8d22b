# bug: B09
# id: tail-dropped
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
ACCUMULATE = 3
rows = torch.randn(320, 8)
rows[[37, 150, 299]] = float("nan")
loader = DataLoader(TensorDataset(rows), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def update(gathered):
    for p in model.parameters():
        p.grad.mul_(1 / gathered)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


for epoch in range(4):
    model.train()
    optimizer.zero_grad(set_to_none=True)  # <-- bug
    gathered = 0
    for (x,) in loader:
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        if not torch.isfinite(loss):
            gathered = 0
            optimizer.zero_grad(set_to_none=True)
            continue
        loss.backward()
        gathered += 1
        if gathered == ACCUMULATE:  # <-- bug
            update(gathered)
            gathered = 0
