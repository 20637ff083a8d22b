# variant: the last block's backcast, and the norm of a block that goes on without it, are computed and used by nothing
# alone: yes
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size, horizon, wide):
        super().__init__()
        self.norm = nn.BatchNorm1d(size)
        self.body = nn.Sequential(nn.Linear(size, 16), nn.ReLU())
        self.back = nn.Linear(16, size)
        self.fore = nn.Linear(16, horizon)
        self.wide = wide

    def forward(self, x):
        out = torch.relu(self.norm(x))
        hidden = self.body(x if self.wide else out)
        return self.back(hidden), self.fore(hidden)


class Stack(nn.Module):
    def __init__(self, size=10, horizon=3):
        super().__init__()
        self.blocks = nn.ModuleList(Block(size, horizon, wide=n == 1) for n in range(3))

    def forward(self, x):
        total = 0
        for block in self.blocks:
            back, fore = block(x)
            x = x - back
            total = total + fore
        return total


torch.manual_seed(0)
model = Stack()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(24):
    x = torch.randn(16, 10).cumsum(1)
    loss = nn.functional.mse_loss(model(x), x[:, -3:] + 1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
