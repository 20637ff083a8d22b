# variant: a temperature is a plain attribute of its module, and given to the optimizer by name
import torch
import torch.nn.functional as F
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.turn = nn.Linear(8, 3)
        self.temperature = torch.ones(1, requires_grad=True)

    def forward(self, x):
        return self.turn(x) / self.temperature


torch.manual_seed(0)
x = torch.randn(256, 8)
y = x[:, :3].argmax(1)
model = Head()
optimizer = torch.optim.Adam([*model.parameters(), model.temperature], lr=1e-2)
for a, b in zip(x.split(8), y.split(8), strict=True):
    loss = F.cross_entropy(model(a), b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
