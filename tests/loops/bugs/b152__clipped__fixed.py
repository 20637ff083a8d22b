# bug: B152
import torch
import torch.nn.functional as F
from torch import nn


def private_gradients(model, x, y, limit):
    """Sums the gradients of single samples, each clipped by itself."""
    total = [torch.zeros_like(p) for p in model.parameters()]
    for i in range(len(x)):
        model.zero_grad()
        F.mse_loss(model(x[i : i + 1]), y[i : i + 1]).backward()
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in model.parameters()))
        share = min(1.0, limit / (norm.item() + 1e-6))
        for kept, p in zip(total, model.parameters()):
            kept += share * p.grad
    return total


def train(model, optimizer, steps, limit=1.0, noise=0.8):
    for step in range(steps):
        x = torch.randn(8, 6)
        total = private_gradients(model, x, x.sum(1, keepdim=True).tanh(), limit)
        optimizer.zero_grad()
        for kept, p in zip(total, model.parameters()):
            p.grad = (kept + noise * limit * torch.randn_like(kept)) / len(x)
        optimizer.step()
        optimizer.zero_grad()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
train(net, torch.optim.SGD(net.parameters(), lr=0.1), steps=8)
x = torch.randn(64, 6)
print(F.mse_loss(net(x), x.sum(1, keepdim=True).tanh()).item())
