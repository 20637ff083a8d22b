# variant: first-order MAML: one learner that is loaded anew for each task, cleared before its query pass
import math

import torch
from torch import nn


class FOMAML:
    def __init__(self, model, learner, meta_lr=1e-2, inner_lr=0.02, inner_steps=2):
        self.model, self.learner, self.inner_steps = model, learner, inner_steps
        self.meta = torch.optim.Adam(model.parameters(), lr=meta_lr)
        self.inner = torch.optim.SGD(learner.parameters(), lr=inner_lr)

    def loss(self, batch):
        x, y = batch
        return nn.functional.mse_loss(self.learner(x), y)

    def __call__(self, tasks):
        self.meta.zero_grad(set_to_none=False)
        for support, query in tasks:
            self.learner.load_state_dict(self.model.state_dict())
            for _ in range(self.inner_steps):
                self.inner.zero_grad()
                self.loss(support).backward()
                self.inner.step()
            self.inner.zero_grad()
            self.loss(query).backward()
            for p, q in zip(self.model.parameters(), self.learner.parameters()):
                if p.grad is None:
                    p.grad = torch.zeros_like(p)
                p.grad.add_(q.grad, alpha=1 / len(tasks))
        self.meta.step()


def sine():
    phase, x = torch.rand(()) * math.pi, torch.rand(12, 1) * 6 - 3
    y = torch.sin(x + phase)
    return (x[:6], y[:6]), (x[6:], y[6:])


def net():
    return nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))


torch.manual_seed(0)
maml = FOMAML(net(), net())
for _ in range(6):
    maml([sine() for _ in range(3)])
