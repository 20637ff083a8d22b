# bug: B106
import torch
from torch import nn


class HeavyBall(torch.optim.Optimizer):
    def __init__(self, params, lr=0.05, momentum=0.9):
        super().__init__(params, {"lr": lr, "momentum": momentum})
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["momentum"] = torch.zeros_like(p)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                buffer = self.state[p]["momentum"]
                buffer = group["momentum"] * buffer + p.grad
                self.state[p]["momentum"] = buffer
                p.add_(buffer, alpha=-group["lr"])


torch.manual_seed(1)
model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = HeavyBall(model.parameters())
for _ in range(15):
    x = torch.randn(20, 4)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
    optimizer.step()
