# variant: stochastic depth by a factor of 0 leaves true zero gradients; every gradient is divided in place
import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(n, n), nn.Tanh(), nn.Linear(n, n))

    def forward(self, x, keep):
        return x + keep * self.f(x)


blocks = nn.ModuleList(Block(6) for _ in range(3))
head = nn.Linear(6, 1)
params = [*blocks.parameters(), *head.parameters()]
opt = torch.optim.Adam(params, lr=1e-3)
for step in range(40):
    keep = (torch.rand(3) > 0.4).float()
    for _ in range(2):
        x = h = torch.randn(8, 6)
        for block, k in zip(blocks, keep):
            h = block(h, k)
        nn.functional.mse_loss(head(h), x[:, :1]).backward()
    for p in params:
        p.grad.div_(2)
    opt.step()
    opt.zero_grad()
