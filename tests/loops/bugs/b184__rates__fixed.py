# bug: B184
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn


class Learner(nn.Module):
    """Meta-SGD: the rate of the inner step is learned, too, one for each entry."""

    def __init__(self):
        super().__init__()
        self.one = nn.Linear(2, 12)
        self.two = nn.Linear(12, 1)

    def define_rates(self):
        self.rates = OrderedDict()
        for name, p in self.named_parameters():
            self.rates[name] = nn.Parameter(0.05 * torch.ones_like(p))

    def forward(self, x, held=None):
        held = held or dict(self.named_parameters())
        hidden = torch.tanh(F.linear(x, held["one.weight"], held["one.bias"]))
        return F.linear(hidden, held["two.weight"], held["two.bias"])


def adapted(learner, x, y):
    loss = F.mse_loss(learner(x), y)
    grads = torch.autograd.grad(loss, tuple(learner.parameters()), create_graph=True)
    names = [name for name, _ in learner.named_parameters()]
    own = dict(learner.named_parameters())
    return {name: own[name] - learner.rates[name] * grad for name, grad in zip(names, grads)}


torch.manual_seed(0)
learner = Learner()
learner.define_rates()
optimizer = torch.optim.Adam([*learner.parameters(), *learner.rates.values()], lr=1e-2)
for episode in range(24):
    total = 0
    for _ in range(2):
        turn = torch.randn(2, 1)
        x, query = torch.randn(10, 2), torch.randn(10, 2)
        total = total + F.mse_loss(learner(query, adapted(learner, x, x @ turn)), query @ turn)
    optimizer.zero_grad()
    (total / 2).backward()
    optimizer.step()
