# variant: residuals by their own backward, for half their squares; a scalar with a weight as its gradient, or with 1
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
weight = torch.tensor(0.5)
for step in range(20):
    x = torch.randn(8, 4)
    residual = model(x) - x[:, :2]
    optimizer.zero_grad()
    residual.backward(residual)
    optimizer.step()

    optimizer.zero_grad()
    loss = (model(x) - x[:, :2]).square().mean()
    loss.backward(weight)
    optimizer.step()

    optimizer.zero_grad()
    (model(x) - x[:, :2]).square().mean().backward(gradient=torch.ones(()))
    optimizer.step()
