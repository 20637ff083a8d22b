# variant: how noisy the gradients of a model are: an optimizer is at hand, clears them, and has no step to take
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(96, 8)
y = x[:, :3].argmax(1)
model = nn.Linear(8, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

found = []
for a, b in zip(x.split(16), y.split(16), strict=True):
    optimizer.zero_grad()
    F.cross_entropy(model(a), b).backward()
    found.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
mean = torch.stack(found).mean(0)
print(f"noise to signal {torch.stack(found).var(0).sum() / mean.square().sum():.3f}")
