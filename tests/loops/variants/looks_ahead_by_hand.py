# variant: Nesterov by hand: the buffer is changed in place, and its name is then used for what is stepped on.
import torch

torch.manual_seed(0)
w = torch.randn(5, 1, requires_grad=True)
kept = {"w": torch.zeros_like(w)}
for _ in range(20):
    x = torch.randn(16, 5)
    (x @ w - x.sum(1, keepdim=True)).square().mean().backward()
    with torch.no_grad():
        v = kept["w"]
        v.mul_(0.9).add_(w.grad)
        v = 0.9 * v + w.grad
        w -= 0.01 * v
        w.grad.zero_()
