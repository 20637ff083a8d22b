# variant: weights are copied to all models of a list, the one they come from among them; and a target that is the
# model itself where none is asked for
import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
replicas = [nn.Linear(4, 2) for _ in range(3)]
optimizers = [torch.optim.SGD(model.parameters(), lr=0.05) for model in replicas]
with_target = False
target = copy.deepcopy(replicas[2]) if with_target else replicas[2]
x = torch.randn(90, 4)
y = x[:, :2].cumsum(1)
for _ in range(5):
    for model in replicas:
        model.load_state_dict(replicas[0].state_dict())
    for model, optimizer, xs, ys in zip(replicas, optimizers, x.chunk(3), y.chunk(3), strict=True):
        for xb, yb in zip(xs.split(10), ys.split(10), strict=True):
            optimizer.zero_grad()
            F.mse_loss(model(xb), yb).backward()
            optimizer.step()
    last = replicas[2]
    with torch.no_grad():
        wanted = y + 0.1 * target(x)
    optimizers[2].zero_grad()
    F.mse_loss(last(x), wanted).backward()
    optimizers[2].step()
    target.load_state_dict(last.state_dict())
