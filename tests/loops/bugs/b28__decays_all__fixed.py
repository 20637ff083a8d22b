# bug: B28
import torch
from torch import nn


class DecayedSGD(torch.optim.SGD):
    """SGD whose weight decay is decoupled."""

    def __init__(self, params, lr, decay):
        super().__init__(params, lr=lr)
        self.decay = decay

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.mul_(1 - group["lr"] * self.decay)
        return super().step(closure)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(5, 5) for _ in range(3)])
        self.out = nn.Linear(5, 2)

    def forward(self, x, which):
        return self.out(torch.relu(self.experts[which](x)))


torch.manual_seed(4)
model = Experts()
opt = DecayedSGD(model.parameters(), lr=0.1, decay=0.05)
for step in range(18):
    x = torch.randn(8, 5)
    loss = nn.functional.cross_entropy(model(x, step % 3), (x.sum(1) > 0).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
