# variant: steps under `% k`, and losses that nothing divides: sums, and means whose gradient goes through div_(k)
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def fresh(lr=0.05):
    model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
    return model, torch.optim.SGD(model.parameters(), lr=lr)


def batches():
    for _ in range(16):
        x = torch.randn(8, 6)
        yield x, x[:, :1]


def summed(accum=4):
    model, optimizer = fresh(1e-3)
    for i, (x, y) in enumerate(batches()):
        (F.mse_loss(model(x), y, reduction="sum") + F.l1_loss(model(x), y, reduction="sum")).backward()
        if (i + 1) % accum == 0:
            optimizer.step()
            optimizer.zero_grad()


def divided_in_place(k=4):
    model, optimizer = fresh()
    for i, (x, y) in enumerate(batches()):
        F.mse_loss(model(x), y).backward()
        if (i + 1) % k == 0:
            for p in model.parameters():
                p.grad.div_(k)
            optimizer.step()
            optimizer.zero_grad()


summed(), divided_in_place()
