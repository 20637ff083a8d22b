# bug: B81
import torch
import torch.nn.functional as F
from torch import nn


class SpeakerNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8))
        self.criterion = nn.Linear(8, 5)

    def forward(self, x, label):
        return F.cross_entropy(self.criterion(self.encoder(x)), label)


class Wrapped(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *args):
        return self.module(*args)


torch.manual_seed(0)
net = Wrapped(SpeakerNet())
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(24):
    x = torch.randn(16, 6)
    net.zero_grad()
    loss = net(x, x[:, :5].argmax(dim=1))
    loss.backward()
    optimizer.step()
print(f"{loss:.4f}")
