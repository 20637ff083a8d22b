# variant: an adversary of the weights pushes them towards a proxy's before the backward, and the same line back after
# the step
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(8)


def made():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))


def difference(model, proxy):
    found = {}
    for (name, old), new in zip(model.state_dict().items(), proxy.state_dict().values()):
        if old.dim() > 1:
            towards = new - old
            found[name] = old.norm() / (towards.norm() + 1e-20) * towards
    return found


def push(model, found, by):
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name in found:
                weight.add_(by * found[name])


model, proxy = made(), made()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
proxy_optimizer = torch.optim.SGD(proxy.parameters(), lr=0.1)
shown = 0.0
for step in range(20):
    x = torch.randn(12, 6)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    proxy.load_state_dict(model.state_dict())
    proxy_optimizer.zero_grad()
    (-F.cross_entropy(proxy(x), y)).backward()
    proxy_optimizer.step()
    found = difference(model, proxy)
    push(model, found, 0.01)
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    push(model, found, -0.01)
    shown = 0.9 * shown + 0.1 * loss.item()
