# variant: after each step a Grad-CAM of a held-out image is kept, from the gradient at the last feature map
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features, self.head = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU()), nn.Linear(4, 3)

    def forward(self, x):
        self.maps = self.features(x)
        return self.head(self.maps.mean((2, 3)))


torch.manual_seed(0)
net, held, shown = Net(), torch.randn(1, 1, 8, 8), []
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(10):
    x = torch.randn(16, 1, 8, 8)
    optimizer.zero_grad()
    F.cross_entropy(net(x), (x.mean((1, 2, 3)) > 0).long()).backward()
    optimizer.step()
    said = net(held)
    net.maps.retain_grad()
    said[0, 1].backward()
    shown.append((net.maps.grad.mean((2, 3), keepdim=True) * net.maps).sum(1).relu().detach())
