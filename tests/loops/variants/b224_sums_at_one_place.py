# variant: gradients of an input summed at one place and read as they grow, or cleared through .data after each use
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Dropout(0.2), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()

for step in range(12):
    x, y = torch.randn(20, 8), torch.randint(3, (20,))
    seen = x.clone().requires_grad_(True)
    for _ in range(5):
        criterion(model(seen + 0.1 * torch.randn_like(x)), y).backward()
        size = seen.grad.norm()
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(5):
        criterion(model(x + delta), y).backward()
        delta.data += 0.05 * delta.grad.sign()
        delta.grad.data.zero_()
    optimizer.zero_grad()
    criterion(model(x + delta.detach()), y).backward()
    optimizer.step()
