# bug: B243
import torch
from torch import nn


class Optim:
    def __init__(self, params, lr, decay):
        self.params, self.lr, self.decay, self.last = list(params), lr, decay, None
        self.make()

    def make(self):
        self.optimizer = torch.optim.SGD(self.params, lr=self.lr, momentum=0.9)

    def step(self):
        torch.nn.utils.clip_grad_norm_(self.params, 5.0)
        self.optimizer.step()

    def update_learning_rate(self, loss):
        if self.last is not None and loss > self.last:
            self.lr *= self.decay
        self.last = loss
        for group in self.optimizer.param_groups:
            group["lr"] = self.lr


def epochs(net, optim, x, y, number):
    for epoch in range(number):
        total = 0.0
        for rows in torch.randperm(len(x)).split(10):
            net.zero_grad()
            loss = nn.functional.l1_loss(net(x[rows]), y[rows])
            loss.backward()
            optim.step()
            total += loss.item()
        optim.update_learning_rate(total)
    return total


torch.manual_seed(4)
x = torch.randn(60, 5)
net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
print(f"{epochs(net, Optim(net.parameters(), 0.02, 0.7), x, x.prod(1, keepdim=True), 4):.3f}")
