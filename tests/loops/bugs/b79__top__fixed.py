# bug: B79
import torch
from torch import nn

ACCUM = 4


def micro_batches(n):
    g = torch.Generator().manual_seed(11)
    for _ in range(n):
        x = torch.randn(5, 8, generator=g)
        yield x, (x[:, :1] > 0).float()


def main():
    torch.manual_seed(11)
    net = nn.Sequential(nn.Linear(8, 10), nn.ReLU(), nn.Linear(10, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.BCEWithLogitsLoss()
    for i, (x, y) in enumerate(micro_batches(32)):
        if i % ACCUM == 0:
            opt.zero_grad()
        loss = criterion(net(x), y) / ACCUM
        loss.backward()
        if (i + 1) % ACCUM == 0:
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            opt.step()
    return loss.item() * ACCUM


print(f"{main():.4f}")
