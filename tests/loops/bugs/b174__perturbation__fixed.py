# bug: B174
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.body(x))


def perturbed(net, x, told, size=1e-2):
    """The virtual adversarial loss: how far the direction that matters most moves the answer."""
    for p in net.parameters():
        p.requires_grad = False
    d = (1e-3 * F.normalize(torch.randn_like(x))).requires_grad_()
    F.kl_div(net(x + d).log_softmax(1), told, reduction="batchmean").backward()
    for p in net.parameters():
        p.requires_grad = True
    return F.kl_div(net(x + size * F.normalize(d.grad)).log_softmax(1), told, reduction="batchmean")


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(24):
    x, unlabelled = torch.randn(8, 8), torch.randn(16, 8)
    with torch.no_grad():
        told = net(unlabelled).softmax(1)
    loss = perturbed(net, unlabelled, told) + F.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
