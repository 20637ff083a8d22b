# variant: eval mode of layers that a train() of the model's own keeps, or that train() is meant to end
"""A model whose train() leaves its norms in eval mode; a part that came in eval mode from where it was loaded, and is
trained; a frozen part that is probed in eval mode before training."""

import torch
from torch import nn


class Frozen(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.norm = nn.BatchNorm1d(8)
        self.norm.eval()
        self.probe = nn.Sequential(nn.Linear(5, 7), nn.Dropout(0.2)).requires_grad_(False)
        self.probe.eval()
        with torch.no_grad():
            width = self.probe(torch.zeros(1, 5)).shape[1]
        self.head = nn.Linear(8 + width, 2)

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self

    def forward(self, x):
        return self.head(torch.cat([self.norm(self.body(x)), self.probe(x)], 1))


def load():
    body = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Dropout(0.1))
    return body.eval()


torch.manual_seed(0)
model = Frozen(load())
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for _ in range(3):
    model.train()
    for _ in range(5):
        x = torch.randn(12, 5)
        loss = nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        model(torch.randn(4, 5))
