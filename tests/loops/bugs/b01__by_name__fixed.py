# bug: B01
import torch
from torch import nn


def reset_grads(model):
    for parameter in model.parameters():
        grad = parameter.grad
        if grad is not None:
            grad.zero_()


torch.manual_seed(6)
model = nn.Sequential(nn.Linear(7, 14), nn.SiLU(), nn.Linear(14, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(12):
    x = torch.randn(16, 7)
    y = torch.stack([x.sum(1), x.prod(1)], 1)
    reset_grads(model)
    loss = nn.functional.l1_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
