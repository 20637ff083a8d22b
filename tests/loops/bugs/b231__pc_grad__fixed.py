# bug: B231
import copy
import random

import torch
import torch.nn.functional as F
from torch import nn


def project_conflicting(grads, reduction="mean"):
    pc_grad = copy.deepcopy(grads)
    for g_i in pc_grad:
        random.shuffle(grads)
        for g_j in grads:
            g_i_g_j = torch.dot(g_i, g_j)
            if g_i_g_j < 0:
                g_i -= g_i_g_j * g_j / (g_j.norm() ** 2)
    stacked = torch.stack(pc_grad)
    return stacked.mean(dim=0) if reduction == "mean" else stacked.sum(dim=0)


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 20)
        self.heads = nn.ModuleList([nn.Linear(20, 3), nn.Linear(20, 3)])

    def forward(self, x):
        hidden = torch.relu(self.linear(x))
        return [head(hidden) for head in self.heads]


random.seed(1)
torch.manual_seed(1)
model = MultiHead()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for batch in range(20):
    x = torch.randn(40, 4)
    labels = x[:, :3].argmax(1), x[:, :3].argmin(1)
    grads = []
    for logits, label in zip(model(x), labels):
        optimizer.zero_grad(set_to_none=False)
        F.cross_entropy(logits, label).backward(retain_graph=True)
        row = [torch.zeros_like(p) if p.grad is None else p.grad for p in model.parameters()]
        grads.append(torch.cat([g.flatten() for g in row]))
    merged, at = project_conflicting(grads), 0
    for p in model.parameters():
        p.grad = merged[at : at + p.numel()].view_as(p).clone()
        at += p.numel()
    optimizer.step()
