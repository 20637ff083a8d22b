# bug: B85
import torch
from torch import nn


def extragradient(model, optimizer, batches, lr):
    """Look ahead by one plain step, and use the gradient found there."""
    for x, y in batches:
        optimizer.zero_grad()
        before = [p.detach().clone() for p in model.parameters()]
        nn.functional.mse_loss(model(x), y).backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= lr * p.grad
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        with torch.no_grad():
            for p, old in zip(model.parameters(), before):
                p.copy_(old)
        optimizer.step()
    return loss.item()


torch.manual_seed(3)
net = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
print(f"{extragradient(net, opt, [(torch.randn(8, 5), torch.randn(8, 1)) for _ in range(10)], 1e-2):.4f}")
