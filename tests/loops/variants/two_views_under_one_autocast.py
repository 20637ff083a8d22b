# variant: a model runs twice under one autocast, which keeps the casts of its weights: both calls are in the loss
import torch
from torch import nn


class Twins(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(8, 16, bias=False), nn.ReLU())
        self.projector = nn.Linear(16, 8, bias=False)
        self.norm = nn.BatchNorm1d(8, affine=False)

    def forward(self, one, other):
        z1, z2 = self.projector(self.backbone(one)), self.projector(self.backbone(other))
        c = self.norm(z1).T @ self.norm(z2)
        c.div_(len(one))
        return torch.diagonal(c).add(-1).pow(2).sum() + 0.005 * c.tril(-1).pow(2).sum()


torch.manual_seed(0)
model = Twins()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scaler = torch.amp.GradScaler("cpu")
for _ in range(16):
    x = torch.randn(32, 8)
    optimizer.zero_grad()
    with torch.amp.autocast("cpu"):
        loss = model.forward(x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
