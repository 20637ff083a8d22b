# bug: B186
# id: summand-without-graph
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(10):
    x = torch.randn(16, 6)
    error = (net(x) - x[:, :1]).pow(2).mean()
    loss = error + 0.1 * float(sum(p.abs().sum() for p in net.parameters()))  # <-- bug
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
