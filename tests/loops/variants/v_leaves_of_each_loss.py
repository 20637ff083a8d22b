# variant: each loss has leaves of its own: a total that begins as one, and a perturbation whose gradient is read
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(16):
    x = torch.randn(24, 6)
    y = x[:, :3].argmax(1)
    total = torch.tensor(0.0, requires_grad=True)
    for part, labels in zip(x.chunk(3), y.chunk(3)):
        total = total + F.cross_entropy(model(part), labels) / 3
    optimizer.zero_grad()
    total.backward()
    optimizer.step()

    delta = torch.empty_like(x).uniform_(-0.1, 0.1).requires_grad_(True)
    F.cross_entropy(model(x + delta), y).backward()
    attacked = (x + delta.detach() + 0.1 * delta.grad.sign()).clamp(-3, 3)
    optimizer.zero_grad()
    F.cross_entropy(model(attacked), y).backward()
    optimizer.step()
