# variant: hand-written SGD: p -= lr * p.grad under no_grad, then p.grad = None
# window: 2
import torch

torch.manual_seed(0)
w = torch.randn(6, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.05
for epoch in range(6):
    for _ in range(2):
        x = torch.randn(8, 6)
        loss = ((x @ w + b - x.sum(1, keepdim=True)) ** 2).mean() / 2
        loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= lr * p.grad
            p.grad = None

print(f"{loss.item():.4f}")
