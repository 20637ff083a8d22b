# bug: B03
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2)).double()
sgd = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=0.1)
mse = nn.MSELoss()
xs = torch.randn(12, 6, 10, dtype=torch.float64)
ys = torch.randn(12, 6, 2, dtype=torch.float64)

for x, y in zip(xs, ys):
    out = net(x)
    loss = mse(out, y)
    loss.backward()
    sgd.step()
    sgd.zero_grad(set_to_none=False)

print(loss.item())
