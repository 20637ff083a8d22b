# bug: B172
# id: wrapper-passed-by
import torch
from torch import nn


class Lookahead(torch.optim.Optimizer):
    def __init__(self, base, k=4, alpha=0.5):
        self.base, self.k, self.alpha, self.counter = base, k, alpha, 0
        self.param_groups = base.param_groups
        self.slow = {p: p.detach().clone() for group in self.param_groups for p in group["params"]}

    def zero_grad(self):
        self.base.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        loss = self.base.step(closure)
        self.counter += 1
        if self.counter % self.k == 0:
            for p, slow in self.slow.items():
                slow.lerp_(p, self.alpha)
                p.copy_(slow)
        return loss


def train(model, batches, optimizer):
    for x, y in batches:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
sgd = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
lookahead = Lookahead(sgd)
for epoch in range(3):
    x = torch.randn(40, 6)
    print(train(model, zip(x.split(8), x[:, :1].split(8)), sgd))  # <-- bug
