# variant: used gradients are made smaller and kept, so that the next pass adds to them; they are cleared now and then
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(16):
    if step % 8 == 0:
        optimizer.zero_grad()
    x = torch.randn(16, 4)
    (net(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    optimizer.step()
    for p in net.parameters():
        p.grad.mul_(0.5)
