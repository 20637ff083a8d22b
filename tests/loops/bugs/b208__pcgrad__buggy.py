# bug: B208
# id: read-without-clearing
"""Two tasks whose gradients are projected where they conflict, and written over what the parameters hold."""

import torch
import torch.nn.functional as F
from torch import nn


def flat(params):
    return torch.cat([p.grad.detach().clone().flatten() for p in params])


def project(vectors):
    out = []
    for one in vectors:
        for other in vectors:
            dot = torch.dot(one, other)
            if dot < 0:
                one = one - dot / other.dot(other) * other
        out.append(one)
    return torch.stack(out).sum(0)


def pcgrad(net, heads, optimizer, x, targets):
    params = list(net.parameters())
    optimizer.zero_grad(set_to_none=False)
    vectors = []
    for head, target in zip(heads, targets):
        loss = F.mse_loss(head(net(x)), target)
        loss.backward()  # <-- bug
        vectors.append(flat(params))
    merged, at = project(vectors), 0
    for p in params:
        p.grad[...] = merged[at : at + p.numel()].view_as(p)
        at += p.numel()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
heads = nn.ModuleList([nn.Linear(16, 1), nn.Linear(16, 1)])
optimizer = torch.optim.SGD([*net.parameters(), *heads.parameters()], lr=0.05)
for _ in range(10):
    x = torch.randn(16, 6)
    pcgrad(net, heads, optimizer, x, [x.sum(1, keepdim=True), -x[:, :1]])
    optimizer.step()
