# variant: the body is frozen first, and given to the optimizer when it is thawed
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.body(x))


torch.manual_seed(0)
net = Net()
for p in net.body.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=1e-2)
for step in range(14):
    if step == 4:
        for p in net.body.parameters():
            p.requires_grad = True
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    x, y = torch.randn(16, 6), torch.randint(3, (16,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
