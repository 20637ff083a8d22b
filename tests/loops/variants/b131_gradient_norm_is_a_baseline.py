# variant: what is a term of a difference was computed by a gradient without a graph, and is detached by its function
import torch
from torch import nn

torch.manual_seed(2)
model = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def sensitivity(x):
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(model(x).sum(), x)
    return slope.detach().norm(dim=1).mean()


for x in torch.randn(8, 16, 3):
    error = (model(x) - x.prod(1, keepdim=True)).pow(2).mean()
    level = sensitivity(x).detach()
    loss = error - level
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
