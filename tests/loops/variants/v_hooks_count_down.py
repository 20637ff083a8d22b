# variant: gradient hooks share a count, which they take down to know when the last of a bucket is there
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
flushed = []


def attach(parameters, flush):
    pending = total = 0

    def ready(gradient):
        nonlocal pending
        pending -= 1
        if pending == 0:
            flush()
            pending = total
        return gradient

    for p in parameters:
        p.register_hook(ready)
        pending += 1
        total += 1


attach(model.parameters(), lambda: flushed.append(1))
waiting = 0


def arrived(gradient):
    global waiting
    waiting -= 1


for p in model.parameters():
    p.register_hook(arrived)
    waiting += 1
for _ in range(10):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    waiting = 4
    F.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
    assert waiting == 0
    optimizer.step()
assert len(flushed) == 10
