# variant: a sum is divided by the rows of the batch, and by as many micro-batches.
import torch
from torch import nn

torch.manual_seed(0)
ROWS = ACCUMULATE = 4
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def backward(loss):
    (loss / ACCUMULATE).backward()


for step in range(24):
    x = torch.randn(ROWS, 5)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).sum() / ROWS
    backward(loss)
    if (step + 1) % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
print(f"{loss.item():.4f}")
