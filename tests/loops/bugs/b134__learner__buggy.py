# bug: B134
# id: inner-gradients-in-outer-step
import torch
import torch.nn.functional as F
from torch import nn


class MetaLearner:
    def __init__(self, inner_rate=0.1, meta_rate=0.01):
        self.w = nn.Parameter(torch.randn(6, 3) * 0.1)
        self.b = nn.Parameter(torch.zeros(3))
        self.optimizer = torch.optim.SGD([self.w, self.b], lr=meta_rate)
        self.inner_rate = inner_rate

    def inner(self, x, y):
        w, b = self.w.clone(), self.b.clone()
        w.retain_grad()
        b.retain_grad()
        loss = F.cross_entropy(x @ w + b, y)
        loss.backward()  # <-- bug
        return torch.add(w, w.grad, alpha=-self.inner_rate), torch.add(b, b.grad, alpha=-self.inner_rate)

    def step(self, support, query):
        self.optimizer.zero_grad()
        w, b = self.inner(*support)
        loss = F.cross_entropy(query[0] @ w + b, query[1])
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(7)
learner = MetaLearner()
for _ in range(10):
    learner.step(*[(torch.randn(9, 6), torch.randint(0, 3, (9,))) for _ in range(2)])
