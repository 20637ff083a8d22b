# truth: zeros-move-unused-parameters
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""Own optimizer with momentum under another name; the branch that sits out is filled with zeros."""


class HeavyBall(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, mu=0.9):
        super().__init__(params, dict(lr=lr, mu=mu))

    @torch.no_grad()
    def step(self, closure=None):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None:
                    continue
                buf = self.state[p].setdefault("buf", torch.zeros_like(p))
                buf.mul_(g["mu"]).add_(p.grad)
                p.add_(buf, alpha=-g["lr"])


trunk, heads = nn.Linear(6, 8), nn.ModuleList([nn.Linear(8, 1) for _ in range(2)])
opt = HeavyBall([*trunk.parameters(), *heads.parameters()])
for it in range(16):
    x = torch.randn(8, 6)
    opt.zero_grad(set_to_none=False)  # <-- bug
    F.mse_loss(heads[it % 2](torch.tanh(trunk(x))), x.sum(1, keepdim=True)).backward()
    opt.step()
