# variant: adversarial training; the attack's gradient needs no graph, and both losses train
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def attack(x, y, size=0.1):
    x = x.clone().requires_grad_(True)
    (slope,) = torch.autograd.grad(F.cross_entropy(model(x), y), x)
    return (x + size * slope.sign()).detach()


for _ in range(12):
    x, y = torch.randn(16, 6), torch.randint(3, (16,))
    clean = F.cross_entropy(model(x), y)
    hard = F.cross_entropy(model(attack(x, y)), y)
    loss = clean + 0.5 * hard
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
