# truth: kept-gradients-of-skipped-step
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""A guard skips steps on non-finite gradients, rarely needed, and the clear stands inside it."""


class Custom(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=-g["lr"])


net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = Custom(net.parameters(), lr=1e-3)
for it in range(20):
    x = torch.randn(8, 6)
    if it == 7:
        x[0, 0] = float("nan")
    loss = F.mse_loss(net(x), x.sum(1, keepdim=True))
    loss.backward()  # <-- bug
    ok = all(torch.isfinite(p.grad).all() for p in net.parameters())
    if ok:
        opt.step()
        opt.zero_grad()  # <-- bug
