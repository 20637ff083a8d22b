# bug: B187
# id: penalty-without-graph
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def residual(x, t):
    u = net(torch.cat([x, t], 1))
    u_x = torch.autograd.grad(u.sum(), x, retain_graph=True)[0]  # <-- bug
    u_t = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    return u_t + 2 * u_x


for _ in range(20):
    start = torch.rand(32, 1)
    first = criterion(net(torch.cat([start, torch.zeros(32, 1)], 1)), torch.sin(start))
    x, t = torch.rand(32, 1, requires_grad=True), torch.rand(32, 1, requires_grad=True)
    loss = first + criterion(residual(x, t), torch.zeros(32, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
