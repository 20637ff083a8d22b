# truth: hook-registered-every-iteration
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
"""A module hook that damps the gradient is registered in forward, so there is one more of them each time."""


class Damped(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 16)
        self.act = nn.Tanh()
        self.outer = nn.Linear(16, 1)

    def forward(self, x):
        self.act.register_full_backward_hook(lambda m, gi, go: tuple(0.5 * g for g in gi))  # <-- bug
        return self.outer(self.act(self.inner(x)))


net = Damped()
opt = torch.optim.Adagrad(net.parameters(), lr=1e-2)
for it in range(8):
    x = torch.randn(8, 6)
    opt.zero_grad()
    F.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    opt.step()
