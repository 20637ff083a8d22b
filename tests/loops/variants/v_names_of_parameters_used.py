# variant: loops over parameters bind their name anew and use it: norms, averages, new weights; clamped gradients
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
averages = [p.detach().clone() for p in model.parameters()]


def size():
    total = 0.0
    for p in model.parameters():
        p = p * p
        total += p.sum().item()
    return total


def averaged():
    kept = []
    for a, p in zip(averages, model.parameters()):
        a = 0.9 * a + 0.1 * p.detach()
        kept.append(a)
    return kept


def adapted(loss, lr=0.1):
    """New weights that the model's own are the beginning of."""
    fast = []
    params = list(model.parameters())
    for p, g in zip(params, torch.autograd.grad(loss, params, create_graph=True)):
        p = p - lr * g
        fast.append(p)
    return fast


def descend(x, steps=3):
    """Goes downhill in the inputs: what is bound anew here is no parameter."""
    for step in range(steps):
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(model(x).sum(), x)
        x = x - 0.1 * slope
    return x.detach()


def forward(w, x):
    return torch.tanh(x @ w[0].t() + w[1]) @ w[2].t() + w[3]


for step in range(8):
    x = torch.randn(16, 6)
    y = x[:, :1]
    fast = adapted(F.mse_loss(model(x), y))
    optimizer.zero_grad()
    (F.mse_loss(forward(fast, x), y) + F.mse_loss(model(descend(x)), y)).backward()
    for p in model.parameters():
        p.grad = p.grad.clamp(-1, 1)
        p.grad.copy_(torch.clamp(p.grad, -0.5, 0.5))
    largest = max(p.grad.clamp(0, 1).max().item() for p in model.parameters())
    optimizer.step()
    averages = averaged()

# A signal that walks, without a parameter in it.
x, weights = torch.zeros(3), [0.1, 0.2, 0.4]
for step in weights:
    x = x + step
print(size(), largest, x)
