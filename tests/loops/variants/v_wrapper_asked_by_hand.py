# variant: what stands around an optimizer is asked now and then, by methods of its own, or does nothing at a step
import torch
from torch import nn


class Lookahead:
    def __init__(self, inner, alpha=0.5):
        self.inner, self.alpha, self.syncs = inner, alpha, 0
        self.slow = [p.detach().clone() for group in inner.param_groups for p in group["params"]]

    def zero_grad(self):
        self.inner.zero_grad()

    def step(self):
        self.inner.step()
        self.sync()

    @torch.no_grad()
    def sync(self):
        self.syncs += 1
        for slow, p in zip(self.slow, (p for group in self.inner.param_groups for p in group["params"])):
            slow.lerp_(p, self.alpha)
            p.copy_(slow)


class Surgery:
    """Projects the gradients of several losses; its step is the inner one's."""

    def __init__(self, inner):
        self.inner = inner

    def zero_grad(self):
        self.inner.zero_grad()

    def step(self):
        """Step."""
        return self.inner.step()

    def backward(self, losses):
        parameters = [p for group in self.inner.param_groups for p in group["params"]]
        grads = [torch.autograd.grad(loss, parameters, retain_graph=True) for loss in losses]
        for p, one, two in zip(parameters, *grads):
            inner = (one * two).sum()
            p.grad = one + two if inner >= 0 else one + two - inner * two / two.norm() ** 2


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
lookahead = Lookahead(sgd)
for step in range(30):
    x = torch.randn(8, 4)
    sgd.zero_grad()
    (net(x) - x[:, :2]).pow(2).mean().backward()
    sgd.step()
    if step % 10 == 9:
        lookahead.sync()

adam = torch.optim.Adam(net.parameters(), lr=1e-2)
surgery = Surgery(adam)
for step in range(12):
    x = torch.randn(8, 4)
    out = net(x)
    surgery.zero_grad()
    surgery.backward([(out[:, 0] - x[:, 0]).pow(2).mean(), (out[:, 1] - x.sum(1)).abs().mean()])
    adam.step()
