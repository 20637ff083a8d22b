# bug: B156
import torch
import torch.nn.functional as F
from torch import nn


class Adam:
    def __init__(self, parameters, lr=1e-2, betas=(0.9, 0.999), eps=1e-8):
        self.parameters = list(parameters)
        self.lr, (self.b1, self.b2), self.eps, self.t = lr, betas, eps, 0
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self):
        self.t += 1
        for i, p in enumerate(self.parameters):
            self.m[i] = self.b1 * self.m[i] + (1 - self.b1) * p.grad
            self.v[i] = self.b2 * self.v[i] + (1 - self.b2) * p.grad**2
            m = self.m[i] / (1 - self.b1**self.t)
            v = self.v[i] / (1 - self.b2**self.t)
            p -= self.lr * m / (v.sqrt() + self.eps)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = Adam(model.parameters())
for step in range(20):
    x = torch.randn(16, 5)
    loss = F.mse_loss(model(x), x.prod(1, keepdim=True).tanh())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
