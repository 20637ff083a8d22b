# variant: a hook reads a number that its function sets after the hook was registered, and before the first backward
import torch
from torch import nn


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for parameter in net.parameters():
        parameter.register_hook(lambda gradient: gradient.clamp(-limit, limit))
    limit = 0.1
    for _ in range(12):
        x = torch.randn(16, 5)
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x).squeeze(1), x.sum(1)).backward()
        optimizer.step()


main()
