# bug: B224
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
epsilon, alpha = 0.3, 0.1

for step in range(12):
    x, y = torch.randn(20, 8), torch.randint(3, (20,))
    delta = torch.zeros_like(x).uniform_(-epsilon, epsilon)
    delta.requires_grad = True
    for _ in range(5):
        loss = criterion(model(x + delta), y)
        loss.backward()
        grad = delta.grad.detach()
        delta.data = (delta + alpha * grad.sign()).clamp(-epsilon, epsilon).detach()
        delta.grad.zero_()
    optimizer.zero_grad()
    criterion(model(x + delta.detach()), y).backward()
    optimizer.step()
