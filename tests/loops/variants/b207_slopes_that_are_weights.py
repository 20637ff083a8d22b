# variant: a function is given the slopes of the model as weights of the samples, and as a number to be shown
import torch
from torch import nn


def weighed(errors, weights):
    return (errors * weights).mean()


def slopes(net, x):
    x = x.clone().requires_grad_(True)
    (slope,) = torch.autograd.grad(net(x).sum(), x)
    return slope.norm(dim=1, keepdim=True)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(12):
    x = torch.randn(32, 2)
    steep = slopes(net, x)
    errors = (net(x) - x.prod(1, keepdim=True)) ** 2
    loss = weighed(errors, steep / steep.mean())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(loss.item() + steep.mean().item())
