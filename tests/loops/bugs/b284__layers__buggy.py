# bug: B284
# id: module-repeated
# severity: info
"""A network whose hidden layers are one and the same."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.inner = nn.Linear(6, 16)
        self.hidden = nn.Sequential(*[nn.Linear(16, 16)] * depth)  # <-- bug
        self.outer = nn.Linear(16, 1)

    def forward(self, x):
        return self.outer(torch.relu(self.hidden(torch.relu(self.inner(x)))))


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(10):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    (model(x) - x[:, :1]).square().mean().backward()
    optimizer.step()
