# bug: B171
import torch
from torch import nn
from torch.nn import functional as F


class Balanced:
    """Two losses whose weights are learned, so that both pull equally at the last shared layer."""

    def __init__(self, net):
        self.net, self.log_weights = net, torch.zeros(2, requires_grad=True)
        self.opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
        self.opt_weights = torch.optim.Adam([self.log_weights], lr=0.01)

    def pull(self, loss):
        grads = torch.autograd.grad(loss, self.net[2].parameters(), create_graph=True)
        return torch.cat([g.flatten() for g in grads]).norm()

    def step(self, x, y):
        out = self.net(x)
        w = self.log_weights.exp()
        parts = w[0] * F.mse_loss(out[:, :1], y), w[1] * F.smooth_l1_loss(out[:, 1:], y.abs())
        self.opt.zero_grad()
        sum(parts).backward(retain_graph=True)
        balance = (self.pull(parts[0]) - self.pull(parts[1])) ** 2
        self.log_weights.grad = torch.autograd.grad(balance, self.log_weights)[0]
        self.opt_weights.step()
        self.opt.step()


torch.manual_seed(4)
trainer = Balanced(nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 2)))
for _ in range(10):
    x = torch.randn(24, 4)
    trainer.step(x, x.mean(1, keepdim=True))
