# variant: a layer and the adapter beside it are both trained, by rates of their own: somebody has chosen.
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
slow, fast = Adapted(nn.Linear(6, 6)), nn.Linear(6, 2)
both = nn.Sequential(slow, nn.Tanh(), fast)
near = [{"params": [slow.a, slow.b, *fast.parameters()]}, {"params": slow.inner.parameters(), "lr": 1e-4}]
train(both, near)
