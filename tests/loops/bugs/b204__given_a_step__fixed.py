# bug: B204
import torch
from torch import nn

BASE = 0.1


def adjust_learning_rate(optimizer, epoch):
    """Halves the rate every 10 epochs."""
    for group in optimizer.param_groups:
        group["lr"] = BASE * 0.5 ** (epoch // 10)


torch.manual_seed(9)
x = torch.randn(60, 4)
batches = list(zip(x.split(6), (x**2).sum(1, keepdim=True).split(6)))
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=BASE)
global_step = 0
for epoch in range(3):
    for inputs, wanted in batches:
        adjust_learning_rate(optimizer, epoch)
        loss = nn.functional.mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        global_step += 1
    print(f"{epoch} {loss.item():.4f}")
