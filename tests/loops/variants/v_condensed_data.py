# variant: data are condensed: synthetic samples are to give the gradient that real ones give, which is a constant
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
made, labels = nn.Parameter(torch.randn(9, 6)), torch.arange(9) % 3
for_made, for_net = torch.optim.SGD([made], lr=0.1), torch.optim.SGD(net.parameters(), lr=0.05)


def slope(x, y, **how):
    return torch.autograd.grad(F.cross_entropy(net(x), y), list(net.parameters()), **how)


for _ in range(10):
    x = torch.randn(32, 6)
    real = torch.cat([one.flatten() for one in slope(x, x[:, :3].argmax(1))])
    wanted = torch.cat([one.flatten() for one in slope(made, labels, create_graph=True)])
    loss = F.mse_loss(real, wanted) + 0.01 * (real - wanted).abs().mean()
    for_made.zero_grad()
    loss.backward()
    for_made.step()
    for_net.zero_grad()
    F.cross_entropy(net(made.detach()), labels).backward()
    for_net.step()
