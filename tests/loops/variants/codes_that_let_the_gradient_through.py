# variant: a quantizer inside a model runs under no_grad, and its input's gradient goes straight through on purpose
import torch
from torch import nn

torch.manual_seed(5)


class Rounding(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()), requires_grad=False)

    def forward(self, z):
        return torch.round(z * self.scale) / self.scale


class Coded(nn.Module):
    def __init__(self):
        super().__init__()
        self.rounding = Rounding()
        self.mix = nn.Linear(6, 6)

    def forward(self, z):
        with torch.no_grad():
            code = self.rounding(z)
        return self.mix(z + (code - z).detach())


model = nn.Sequential(nn.Linear(8, 6), Coded(), nn.Linear(6, 8))
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for step in range(20):
    x = torch.randn(16, 8)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x).backward()
    optimizer.step()
