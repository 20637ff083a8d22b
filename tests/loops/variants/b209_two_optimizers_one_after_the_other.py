# variant: a second optimizer steps on the same gradients, which are made smaller in place between the two
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
fast = torch.optim.SGD(net.parameters(), lr=0.05)
slow = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for step in range(12):
    x = torch.randn(16, 4)
    fast.zero_grad()
    (net(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    fast.step()
    for p in net.parameters():
        p.grad.clamp_(-0.5, 0.5)
    slow.step()
