# variant: Momentum by hand makes a new tensor in each step, and puts it back where the last one was.
import torch


def descend(weights, state, lr=0.02):
    with torch.no_grad():
        for name, one in weights.items():
            v, rate = state[name], lr
            v = 0.9 * v + one.grad
            rate = 0.5 * rate + 0.5 * lr
            one -= rate * v
            state[name] = v


torch.manual_seed(1)
weights = {"w": torch.randn(5, 1, requires_grad=True), "b": torch.zeros(1, requires_grad=True)}
state = {name: torch.zeros_like(one) for name, one in weights.items()}
for _ in range(20):
    x = torch.randn(16, 5)
    (x @ weights["w"] + weights["b"] - x.sum(1, keepdim=True)).square().mean().backward()
    descend(weights, state)
    for one in weights.values():
        one.grad = None
