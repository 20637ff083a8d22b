# bug: B223
import torch
from torch import nn


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def climb(self):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["up"] = group["rho"] * p.grad / (p.grad.norm() + 1e-12)
                p.add_(self.state[p]["up"])
        self.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(self.state[p]["up"])
        self.base_optimizer.step()
        self.zero_grad()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
base_optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer.base_optimizer, T_max=6)
x, y = torch.randn(64, 4), torch.randint(3, (64,))
for epoch in range(6):
    for a, b in zip(x.split(16), y.split(16)):
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.climb()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
    scheduler.step()
