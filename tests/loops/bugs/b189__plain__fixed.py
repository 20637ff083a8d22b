# bug: B189
import torch
from torch import nn

torch.manual_seed(0)


class ActNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(1, c, 1, 1) + 0.5)
        self.bias = nn.Parameter(torch.zeros(1, c, 1, 1))

    def forward(self, x):
        _, _, h, w = x.shape
        log_det = h * w * torch.sum(torch.log(torch.abs(self.scale)))
        return self.scale * (x + self.bias), log_det


class Conv(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(c))

    def forward(self, x):
        h, w = x.shape[2:]
        return nn.functional.conv2d(x, self.weight[:, :, None, None]), h * w * torch.slogdet(self.weight)[1]


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([ActNorm(3), Conv(3), ActNorm(3), Conv(3)])

    def forward(self, x):
        total = 0
        for part in self.parts:
            x, log_det = part(x)
            total = total + log_det
        return x, total


model = Flow()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(20):
    x = torch.randn(8, 3, 4, 4)
    z, log_det = model(x)
    log_p = -0.5 * (z**2).sum((1, 2, 3))
    loss = -(log_p + log_det).mean() / 48
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
