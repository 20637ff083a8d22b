# bug: B137
# id: gradient-kept-as-state
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
velocity = {}


def momentum_step(lr=0.02, mu=0.8):
    with torch.no_grad():
        for name, p in model.named_parameters():
            grad = p.grad
            if name in velocity:
                velocity[name].mul_(mu).add_(grad)
            else:
                velocity[name] = grad  # <-- bug
            p -= lr * velocity[name]


for _ in range(30):
    x = torch.randn(16, 8)
    for p in model.parameters():
        if p.grad is not None:
            p.grad.zero_()
    nn.functional.mse_loss(model(x), x[:, :1].sin()).backward()
    momentum_step()
