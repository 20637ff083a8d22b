# variant: schedule-free SGD by hand: gradients are taken at 0.1 z + 0.9 x, x is the running mean of z
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
z = [p.detach().clone() for p in model.parameters()]
x = [p.detach().clone() for p in model.parameters()]
base = torch.optim.SGD(z, lr=0.05)
for step in range(30):
    with torch.no_grad():
        for p, a, b in zip(model.parameters(), z, x):
            p.copy_(0.1 * a + 0.9 * b)
    inputs = torch.randn(16, 6)
    loss = (model(inputs) - inputs[:, :1]).pow(2).mean()
    for a, g in zip(z, torch.autograd.grad(loss, list(model.parameters()))):
        a.grad = g
    base.step()
    with torch.no_grad():
        for a, b in zip(z, x):
            b.lerp_(a, 1 / (step + 1))
print(f"{loss.item():.4f}")
