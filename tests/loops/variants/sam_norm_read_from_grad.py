# variant: SAM by hand: the norm is read from every p.grad, those of a zero-initialised branch are zero
import torch
from torch import nn

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(6, 12), nn.ReLU())
branch = nn.Linear(12, 12)
gate = nn.Parameter(torch.zeros(1))
head = nn.Linear(12, 3)
params = [*body.parameters(), *branch.parameters(), gate, *head.parameters()]
optimizer = torch.optim.SGD(params, lr=0.1, momentum=0.9)
rho = 0.05


def loss_of(x, y):
    h = body(x)
    return nn.functional.cross_entropy(head(h + gate * torch.tanh(branch(h))), y)


for step in range(10):
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    optimizer.zero_grad()
    loss = loss_of(x, y)
    loss.backward()
    with torch.no_grad():
        grad_norm = torch.sqrt(sum((p.grad**2).sum() for p in params))
        offsets = [rho * p.grad / (grad_norm + 1e-12) for p in params]
        for p, e in zip(params, offsets):
            p.add_(e)
    optimizer.zero_grad()
    loss_of(x, y).backward()
    with torch.no_grad():
        for p, e in zip(params, offsets):
            p.sub_(e)
    optimizer.step()
print(f"{loss.item():.4f} {grad_norm.item():.4f} {gate.item():.4f}")
