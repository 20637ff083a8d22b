# variant: statistics are frozen from the second epoch on, and each epoch says so, by train(False) or by eval()
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(160, 8)
y = x[:, :3].argmax(dim=1)


def by_argument(net, epoch):
    net.train(epoch < 1)


def by_name(net, epoch):
    net.train(mode=epoch < 1)


def by_two_calls(net, epoch):
    if epoch < 1:
        net.train()
    else:
        net.eval()


class Own(nn.Sequential):
    def train(self, mode=True):
        super().train(mode)
        return self


for say, kind in ((by_argument, nn.Sequential), (by_name, Own), (by_two_calls, nn.Sequential)):
    net = kind(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(4):
        say(net, epoch)
        for inputs, targets in zip(x.split(16), y.split(16), strict=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs), targets).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            print(epoch, nn.functional.cross_entropy(net(x), y).item())
