# variant: names of gradients are bound anew to be measured: on the same line, in the next round, by a function above
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
weight = model[0].weight


def gradients():
    for _ in range(10):
        x = torch.randn(16, 6)
        optimizer.zero_grad()
        F.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
        yield
        optimizer.step()


def ahead():
    direction = None

    def along(x):
        return 0.0 if direction is None else (x @ direction.t()).mean().item()

    seen = []
    for _ in gradients():
        seen.append(along(torch.randn(4, 6)))
        direction = weight.grad
        direction = direction / direction.norm()
    return seen


def turns():
    unit, found = None, []
    for _ in gradients():
        if unit is not None:
            found.append((unit * weight.grad).sum().item())
        unit = weight.grad
        unit = unit / unit.norm()
    return found


def last():
    for _ in gradients():
        kept = weight.grad
        kept = kept.clone()


spread = []
for _ in gradients():
    for p in model.parameters():
        g = p.grad
        if g.dim() > 1:
            g = g - g.mean(1, keepdim=True)
            spread.append(g.norm().item())
ahead(), turns(), last()
