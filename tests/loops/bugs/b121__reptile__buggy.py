# bug: B121
# id: snapshot-shares-memory
import torch
import torch.nn.functional as F
from torch import nn


def task():
    slope = torch.randn(3, 1)
    for _ in range(4):
        x = torch.randn(8, 3)
        yield x, x @ slope


def main():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
    for _ in range(8):
        before = model.state_dict()  # <-- bug
        inner = torch.optim.SGD(model.parameters(), lr=0.02)
        for x, y in task():
            inner.zero_grad()
            F.mse_loss(model(x), y).backward()
            inner.step()
        after = model.state_dict()
        model.load_state_dict({k: before[k] + 0.1 * (after[k] - before[k]) for k in before})  # <-- bug
    print(sum(p.sum().item() for p in model.parameters()))


main()
