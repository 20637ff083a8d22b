# bug: B296
import torch
from torch import nn


def stage(model, optimizer, steps):
    for _ in range(steps):
        x = torch.randn(16, 6)
        model.zero_grad()
        nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
        optimizer.step()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    stage(model, torch.optim.Adam(model.parameters(), lr=1e-2), 10)
    model.insert(2, nn.Sequential(nn.Linear(16, 16), nn.ReLU()))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    stage(model, optimizer, 20)
    stage(model, torch.optim.SGD(model.parameters(), lr=1e-3), 10)


main()
