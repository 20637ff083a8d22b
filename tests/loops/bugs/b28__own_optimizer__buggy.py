# bug: B28
# id: zeros-move-unused-parameters
# severity: warning
import torch
from torch import nn


class Lion(torch.optim.Optimizer):
    """Goes by the sign of a running mean."""

    def __init__(self, params, lr=1e-3, beta=0.9, weight_decay=0.1):
        super().__init__(params, {"lr": lr, "beta": beta, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    p.grad = torch.zeros_like(p)  # <-- bug
                state = self.state[p]
                if not state:
                    state["mean"] = torch.zeros_like(p)
                mean = state["mean"]
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_((group["beta"] * mean + (1 - group["beta"]) * p.grad).sign(), alpha=-group["lr"])
                mean.lerp_(p.grad, 1 - group["beta"])


torch.manual_seed(0)
backbone, head = nn.Linear(6, 12), nn.Linear(12, 2)
backbone.requires_grad_(False)
optimizer = Lion([*backbone.parameters(), *head.parameters()], lr=0.01)
for step in range(20):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(head(backbone(x).relu()), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
