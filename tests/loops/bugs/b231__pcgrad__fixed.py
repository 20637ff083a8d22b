# bug: B231
"""Gradient surgery for two tasks: what of one gradient goes against the other is taken out of it."""

import random

import torch
import torch.nn.functional as F
from torch import nn


class PCGrad:
    def __init__(self, optimizer):
        self.optim = optimizer
        self.params = [p for group in optimizer.param_groups for p in group["params"]]

    def pc_backward(self, objectives):
        grads = [self._flat_grad(objective) for objective in objectives]
        merged = self._project_conflicting(grads)
        for p, g in zip(self.params, merged.split([p.numel() for p in self.params])):
            p.grad = g.view_as(p).clone()

    def _flat_grad(self, objective):
        grads = torch.autograd.grad(objective, self.params, retain_graph=True)
        return torch.cat([g.flatten() for g in grads])

    def _project_conflicting(self, grads):
        projected = [g.clone() for g in grads]
        for g_i in projected:
            random.shuffle(grads)
            for g_j in grads:
                dot = torch.dot(g_i, g_j)
                if dot < 0:
                    g_i -= dot * g_j / g_j.norm() ** 2
        return torch.stack(projected).mean(0)

    def step(self):
        self.optim.step()
        self.optim.zero_grad()


random.seed(0)
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = PCGrad(torch.optim.Adam(net.parameters(), lr=5e-3))
for _ in range(20):
    x = torch.randn(32, 6)
    out = net(x)
    objectives = [F.mse_loss(out[:, 0], x.sum(1)), F.mse_loss(out.sum(1), -x[:, :3].sum(1))]
    optimizer.pc_backward(objectives)
    optimizer.step()
