# variant: after the step gradients are divided in place for a log, which reads them before they are cleared
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
scale, norms = 8.0, []
for step in range(12):
    x = torch.randn(16, 4)
    optimizer.zero_grad()
    (scale * (net(x) - x.sum(1, keepdim=True)).pow(2).mean()).backward()
    optimizer.step()
    for p in net.parameters():
        p.grad.div_(scale)
    norms.append(torch.cat([p.grad.flatten() for p in net.parameters()]).norm().item())
print(norms[0], norms[-1])
