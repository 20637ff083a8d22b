# bug: B95
# id: average-trained-too
from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader


def encoder(dim=8, hidden=16, out=6):
    return nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, out))


def build():
    online = encoder()
    predictor = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 6))
    return nn.ModuleDict({"online": online, "predictor": predictor, "target": deepcopy(online)})  # <-- bug


def augment(x):
    return x * (torch.rand_like(x) > 0.2) + 0.1 * torch.randn_like(x)


def regression_loss(a, b):
    return 2 - 2 * F.cosine_similarity(a, b, dim=-1).mean()


def byol_loss(nets, x):
    one, two = augment(x), augment(x)
    p1, p2 = nets["predictor"](nets["online"](one)), nets["predictor"](nets["online"](two))
    z1, z2 = nets["target"](one), nets["target"](two)  # <-- bug
    return (regression_loss(p1, z2) + regression_loss(p2, z1)) / 2  # <-- bug


def update_moving_average(nets, beta=0.9):
    for new, old in zip(nets["online"].parameters(), nets["target"].parameters()):
        old.data = beta * old.data + (1 - beta) * new.data


if __name__ == "__main__":
    torch.manual_seed(0)
    nets = build()
    opt = torch.optim.SGD(nets.parameters(), lr=0.05, momentum=0.9)  # <-- bug
    for x in DataLoader(torch.randn(160, 8), batch_size=16):
        loss = byol_loss(nets, x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        update_moving_average(nets)
    print(f"{loss.item():.4f}")
