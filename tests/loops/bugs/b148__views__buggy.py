# bug: B148
# id: summand-without-graph
"""Labels for few samples, and for all of them: what is said must not change with a little noise."""

import torch
import torch.nn.functional as F
from torch import nn


def agreement(model, x, views=3):
    said = model(x).log_softmax(dim=1)
    losses = []
    for _ in range(views):
        other = model(x + 0.1 * torch.randn_like(x)).softmax(dim=1)
        losses.append(F.kl_div(said, other, reduction="batchmean"))
    return torch.tensor(losses, requires_grad=True).mean()  # <-- bug


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    x = torch.randn(240, 8)
    y = x[:, :4].argmax(1)
    for step in range(16):
        few, many = torch.randint(24, (12,)), torch.randint(240, (48,))
        loss = F.cross_entropy(model(x[few]), y[few]) + 2.0 * agreement(model, x[many])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{(model(x).argmax(1) == y).float().mean():.2f}")


main()
