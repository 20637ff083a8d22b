# bug: B84
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU())
        self.two = nn.Sequential(nn.Conv2d(6, 8, 3, padding=1), nn.ReLU())
        self.aux = nn.Linear(6, 4)
        self.out = nn.Linear(8, 4)

    def forward(self, x):
        early = self.one(x)
        late = self.two(early)
        return self.out(late.mean((2, 3))), self.aux(early.mean((2, 3)))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(4):
    for _ in range(6):
        x, y = torch.randn(8, 1, 6, 6), torch.randint(4, (8,))
        out, aux = net(x)
        main_loss = F.cross_entropy(out, y)
        aux_loss = F.cross_entropy(aux, y)
        loss = main_loss + 0.4 * aux_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
