# variant: a function adds up terms that it is given: a penalty with its graph, an offset of the data's that has none
import torch
from torch import nn


def objective(fit, penalty, offset, weight=0.1):
    """The negative log-likelihood, with its constant."""
    return fit + weight * penalty + offset


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(12):
    x = torch.randn(16, 3, requires_grad=True)
    scale = torch.rand(16, 1) + 0.5
    guess = net(x)
    (slope,) = torch.autograd.grad(guess.sum(), x, create_graph=True)
    fit = ((guess - x[:, :1].detach().sin()) ** 2 / (2 * scale**2)).mean()
    constant = scale.log().mean()
    loss = objective(fit, slope.pow(2).sum(1).mean(), constant)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
