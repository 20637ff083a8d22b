# variant: after an evaluation the model stays in eval mode, and its head alone is trained on features that were kept
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.2))
        self.head = nn.Linear(12, 2)

    def forward(self, x):
        return self.head(self.body(x))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(64, 6)
y = (x[:, 0] > 0).long()
for _ in range(10):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    kept = net.body(x)
    print(f"{(net(x).argmax(1) == y).float().mean():.2f}")
for _ in range(10):
    optimizer.zero_grad()
    F.cross_entropy(net.head(kept), y).backward()
    optimizer.step()
