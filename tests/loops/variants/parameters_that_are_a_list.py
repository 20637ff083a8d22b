# variant: MAML's learner keeps its weights in a ParameterList, and its own parameters() gives that, no iterator
import torch
import torch.nn.functional as F
from torch import nn


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.vars = nn.ParameterList([nn.Parameter(torch.randn(16, 4) / 2), nn.Parameter(torch.zeros(16))])
        self.vars += [nn.Parameter(torch.randn(3, 16) / 4), nn.Parameter(torch.zeros(3))]

    def forward(self, x, weights=None):
        w1, b1, w2, b2 = self.vars if weights is None else weights
        return F.linear(torch.relu(F.linear(x, w1, b1)), w2, b2)

    def parameters(self):
        return self.vars


torch.manual_seed(0)
net = Learner()
outer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(12):
    losses = []
    for _ in range(3):
        x, y = torch.randn(24, 4), torch.randint(3, (24,))
        grads = torch.autograd.grad(F.cross_entropy(net(x[:12]), y[:12]), list(net.parameters()))
        fast = [p - 0.1 * g for p, g in zip(net.parameters(), grads, strict=True)]
        losses.append(F.cross_entropy(net(x[12:], fast), y[12:]))
    outer.zero_grad()
    (sum(losses) / len(losses)).backward()
    outer.step()
