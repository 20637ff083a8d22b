# bug: B165
"""A tied embedding is kept out of the group with decay by its name, and stands in the other one."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(20, 16)
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(6))
        self.head = nn.Linear(16, 20, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, x):
        h = self.wte(x)
        for layer in self.layers:
            h = h + torch.tanh(layer(h))
        return self.head(h)


torch.manual_seed(0)
model = Model()
named = dict(model.named_parameters())
decay = [p for name, p in named.items() if p.dim() >= 2 and "wte" not in name]
plain = [p for name, p in named.items() if p.dim() < 2 or "wte" in name]
groups = [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-3)
for _ in range(12):
    x = torch.randint(20, (8, 5))
    model.zero_grad()
    F.cross_entropy(model(x).flatten(0, 1), x.flatten()).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
