# bug: B281
# id: trained-in-eval-mode
"""A baseline is measured before training begins, and nothing puts the model back into train mode."""

import torch
from torch import nn


def accuracy(model, x, y):
    model.eval()  # <-- bug
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.3), nn.Linear(24, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x = torch.randn(64, 6)
    y = x[:, :3].argmax(1)
    history = [accuracy(model, x, y)]
    for _ in range(3):
        for part, target in zip(x.split(16), y.split(16)):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(part), target).backward()
            optimizer.step()
        history.append(accuracy(model, x, y))


main()
