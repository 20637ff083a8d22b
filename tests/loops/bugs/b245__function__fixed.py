# bug: B245
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
first, limit = 0.1, 0.4
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=first, momentum=0.9)
x = torch.randn(48, 6)
y = x.sum(1, keepdim=True)


def adjust_learning_rate(epoch):
    """The first rate, divided by ten every other epoch."""
    return first * (0.1 ** (epoch // 2))


def train(epoch):
    lr = adjust_learning_rate(epoch)
    for group in optimizer.param_groups:
        group["lr"] = lr
    print(f"epoch {epoch}, learning rate {lr}")
    for a, b in zip(x.split(12), y.split(12)):
        optimizer.zero_grad()
        F.mse_loss(model(a), b).backward()
        nn.utils.clip_grad_norm_(model.parameters(), limit / lr)
        optimizer.step()


for number in range(5):
    train(number)
