# variant: optimizers of one's own that pass over what has no gradient, and one that averages weights it has moved
import torch
from torch import nn

torch.manual_seed(0)


class Lookahead(torch.optim.SGD):
    """Goes back half of the way at every fifth step."""

    def __init__(self, params, lr):
        super().__init__(params, lr=lr)
        self.slow, self.count = {}, 0

    @torch.no_grad()
    def step(self, closure=None):
        super().step(closure)
        self.count += 1
        for group in self.param_groups:
            for p in group["params"]:
                slow = self.slow.setdefault(p, p.clone())
                if self.count % 5 == 0:
                    slow.add_(p - slow, alpha=0.5)
                    p.copy_(slow)


class Signs(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.mul_(0.999).sub_(p.grad.sign(), alpha=group["lr"])


body, head = nn.Linear(5, 8).requires_grad_(False), nn.Linear(8, 2)
for kind in (Lookahead, Signs):
    optimizer = kind([*body.parameters(), *head.parameters()], lr=0.01)
    for _ in range(15):
        x = torch.randn(8, 5)
        loss = nn.functional.cross_entropy(head(body(x).relu()), (x[:, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
