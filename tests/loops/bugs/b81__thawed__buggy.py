# bug: B81
# id: gradients-nobody-uses
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
net.body.requires_grad_(False)
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-2)  # <-- bug
for step in range(14):
    if step == 3:
        net.body.requires_grad_(True)  # <-- bug
    x, y = torch.randn(16, 6), torch.randint(3, (16,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
