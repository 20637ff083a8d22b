# bug: B106
# id: buffer-not-kept
import torch

torch.manual_seed(0)
w, b = torch.randn(5, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
weights = [w, b]
velocities = [torch.zeros_like(one) for one in weights]
for _ in range(20):
    x = torch.randn(16, 5)
    loss = (x @ w + b - x.sum(1, keepdim=True)).square().mean()
    loss.backward()
    with torch.no_grad():
        for one, v in zip(weights, velocities):
            v = 0.9 * v + one.grad  # <-- bug
            one -= 0.02 * v
            one.grad = None
