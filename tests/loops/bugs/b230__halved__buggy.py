# bug: B230
# id: schedule-moves-nothing
import torch
import torch.nn.functional as F
from torch import nn

BASE_LR = 0.2
EPOCHS = 8


def adjust_learning_rate(optimizer, epoch):
    """Sets the learning rate to the initial LR, halved every 2 epochs."""
    lr = BASE_LR * (0.5 ** (epoch // 2))
    optimizer.defaults["lr"] = lr  # <-- bug
    return lr


def train_epoch(model, batches, optimizer):
    model.train()
    total = 0.0
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(batches)


def main():
    torch.manual_seed(2)
    x = torch.randn(80, 5)
    y = (x[:, 0] > x[:, 1]).long() + (x[:, 2] > 1).long()
    batches = list(zip(x.split(16), y.split(16)))
    model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=BASE_LR, momentum=0.9, weight_decay=5e-4)
    for epoch in range(EPOCHS):
        lr = adjust_learning_rate(optimizer, epoch)
        loss = train_epoch(model, batches, optimizer)
        print(f"epoch {epoch}  lr {lr:.4f}  loss {loss:.4f}")


main()
