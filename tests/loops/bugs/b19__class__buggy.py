# bug: B19
# id: scheduler-every-micro-batch
import torch
from torch import nn


class Runner:
    def __init__(self, net, grad_accumulation=3):
        self.net = net
        self.grad_accumulation = grad_accumulation
        self.micro = 0
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        self.sched = torch.optim.lr_scheduler.ExponentialLR(self.opt, gamma=0.95)

    def step(self, x, y):
        self.micro += 1
        loss = (self.net(x) - y).abs().mean() / self.grad_accumulation
        loss.backward()
        self.sched.step()  # <-- bug
        if self.micro == self.grad_accumulation:
            self.opt.step()
            self.opt.zero_grad()
            self.micro = 0


torch.manual_seed(1)
runner = Runner(nn.Sequential(nn.Linear(3, 6), nn.Softplus(), nn.Linear(6, 1)))
for _ in range(21):
    x = torch.randn(5, 3)
    runner.step(x, x.prod(1, keepdim=True))
