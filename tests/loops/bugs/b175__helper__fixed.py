# bug: B175
import torch
from torch import nn


def freeze_norms(module):
    if isinstance(module, nn.BatchNorm1d):
        module.eval()
        for p in module.parameters():
            p.requires_grad = False


def fit(net, optimizer, epochs):
    for _ in range(epochs):
        net.train().apply(lambda m: m.eval() if isinstance(m, nn.BatchNorm1d) else m)
        for _ in range(5):
            x = torch.randn(16, 5)
            loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


torch.manual_seed(1)
trunk = nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8), nn.BatchNorm1d(8))
net = nn.Sequential(trunk, nn.ReLU(), nn.Linear(8, 1))
net.apply(freeze_norms)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

trunk.requires_grad_(False)
fit(net, optimizer, epochs=2)
trunk.requires_grad_(True)
net.apply(freeze_norms)
fit(net, optimizer, epochs=4)
