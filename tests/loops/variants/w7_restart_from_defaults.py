# variant: a lower rate is written into the defaults of an optimizer, from which the next one is made
import torch
from torch import nn


def restarted(optimizer, params, factor):
    """The same kind of optimizer with the same settings, a lower rate, and moments that begin anew."""
    optimizer.defaults["lr"] = optimizer.defaults["lr"] * factor
    return type(optimizer)(params, **optimizer.defaults)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.SiLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
x = torch.randn(64, 5)
y = (x[:, 0] > x[:, 1]).long()
for cycle in range(3):
    for _ in range(8):
        rows = torch.randint(0, 64, (16,))
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    optimizer = restarted(optimizer, model.parameters(), 0.5)
