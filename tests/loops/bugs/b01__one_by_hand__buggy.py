# bug: B01
# id: never-zeroed
import torch

torch.manual_seed(0)
w1 = torch.randn(5, 8).mul_(0.3).requires_grad_(True)
b1 = torch.zeros(8, requires_grad=True)
w2 = torch.randn(8, 1).mul_(0.3).requires_grad_(True)
b2 = torch.zeros(1, requires_grad=True)
lr = 0.05
for _ in range(12):
    x = torch.randn(16, 5)
    y = x[:, :1] - 0.5
    loss = ((torch.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()
    loss.backward()  # <-- bug
    with torch.no_grad():
        w1 -= lr * w1.grad
        b1 -= lr * b1.grad
        w2 -= lr * w2.grad
        b2 -= lr * b2.grad
        w1.grad.zero_()
        w2.grad.zero_()
        b2.grad.zero_()  # <-- bug
