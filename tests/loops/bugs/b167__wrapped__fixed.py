# bug: B167
"""Adapters are put into a model that came with its weights; the call that freezes it is missing."""

import torch
import torch.nn.functional as F
from torch import nn


class Adapted(nn.Module):
    def __init__(self, inner, rank):
        super().__init__()
        self.inner = inner
        self.down = nn.Linear(inner.in_features, rank, bias=False)
        self.up = nn.Linear(rank, inner.out_features, bias=False)
        nn.init.zeros_(self.up.weight)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.inner(x) + 2.0 * self.up(self.down(self.drop(x)))


def freeze(model):
    for parameter in model.parameters():
        parameter.requires_grad_(False)


def adapt(model, rank):
    for name, child in model.named_children():
        if isinstance(child, nn.Linear) and name != "2":
            setattr(model, name, Adapted(child, rank))
        else:
            adapt(child, rank)


def main():
    torch.manual_seed(0)
    body = nn.Sequential(nn.Linear(10, 16), nn.GELU(), nn.Linear(16, 16), nn.LayerNorm(16))
    model = nn.Sequential(nn.Sequential(nn.Linear(10, 10), nn.Tanh()), body, nn.Linear(16, 4))
    freeze(model)
    adapt(model, rank=3)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    for _ in range(12):
        x = torch.randn(16, 10)
        loss = F.cross_entropy(model(x), x[:, :4].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.4f}")


main()
