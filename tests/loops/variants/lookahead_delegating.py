# variant: Lookahead as an Optimizer around SGD: groups, state and zero_grad are those of the optimizer inside
import torch
from torch import nn


class Lookahead(torch.optim.Optimizer):
    def __init__(self, base: torch.optim.Optimizer, k: int = 3, alpha: float = 0.5) -> None:
        self.base, self.k, self.alpha, self.counter = base, k, alpha, 0
        super().__init__(base.param_groups, base.defaults)
        self.param_groups = base.param_groups
        self.slow = {p: p.detach().clone() for group in self.param_groups for p in group["params"]}

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.base.zero_grad(set_to_none)

    @torch.no_grad()
    def step(self, closure=None):
        loss = self.base.step(closure)
        self.counter += 1
        if self.counter % self.k == 0:
            for p, slow in self.slow.items():
                slow.lerp_(p, self.alpha)
                p.copy_(slow)
        return loss


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 1))
optimizer = Lookahead(torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9))
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4)
for step in range(10):
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()

print(f"{loss.item():.4f}")
