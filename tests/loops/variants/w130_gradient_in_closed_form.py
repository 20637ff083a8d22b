# variant: least squares with the gradient written down by hand into w.grad, momentum SGD does the rest
import torch

torch.manual_seed(0)
X, y = torch.randn(32, 4), torch.randn(32, 1)
w = torch.zeros(4, 1, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
for step in range(10):
    with torch.no_grad():
        residual = X @ w - y
        w.grad = 2 * X.T @ residual / len(X)
    optimizer.step()

print(f"{residual.pow(2).mean().item():.4f}")
