# bug: B189
import torch
from torch import nn

torch.manual_seed(0)


class Coupling(nn.Module):
    def __init__(self, d, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(d // 2, 16), nn.Tanh(), nn.Linear(16, d))

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        log_s, t = self.net(a).chunk(2, 1)
        log_s = torch.tanh(log_s)
        b = b * torch.exp(log_s) + t
        ld = log_s.sum(1)
        return (torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)), ld


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Coupling(4, i % 2 == 1) for i in range(4)])

    def forward(self, x):
        logdet = torch.zeros(x.size(0))
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        return x, logdet


flow = Flow()
opt = torch.optim.Adam(flow.parameters(), 1e-3)
prior = torch.distributions.Normal(0, 1)
for _ in range(20):
    x = torch.randn(32, 4) * 2
    z, logdet = flow(x)
    nll = -(prior.log_prob(z).sum(1) + logdet).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
