# bug: B215
# id: loss-as-gradient
import torch
from torch import nn


def update(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    torch.autograd.backward(loss, grad_tensors=loss.detach())  # <-- bug
    optimizer.step()
    return loss.item()


torch.manual_seed(1)
model = nn.Linear(5, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(20):
    x = torch.randn(8, 5)
    update(model, optimizer, x, x[:, :3].argmax(1))
