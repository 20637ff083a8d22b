# variant: a frozen layer has an adapter; norms, biases and the head are trained with it.
import torch
import torch.nn.functional as F
from torch import nn


class Adapted(nn.Module):
    def __init__(self, inner, rank=2):
        super().__init__()
        self.inner = inner
        self.a = nn.Parameter(torch.randn(inner.in_features, rank) * 0.1)
        self.b = nn.Parameter(torch.zeros(rank, inner.out_features))

    def forward(self, x):
        return self.inner(x) + x @ self.a @ self.b


def train(model, groups):
    optimizer = torch.optim.AdamW(groups, lr=1e-2)
    for _ in range(10):
        x = torch.randn(8, 6)
        loss = F.cross_entropy(model(x), (x[:, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.4f}")


torch.manual_seed(0)
base = nn.Linear(6, 6)
base.weight.requires_grad_(False)
model = nn.Sequential(Adapted(base), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 2))
train(model, [p for p in model.parameters() if p.requires_grad])
