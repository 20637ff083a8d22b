# variant: straight-through: x + (q - x).detach() in the middle of forward lets the gradient pass round the rounding
import torch
from torch import nn


class Quantised(nn.Module):
    def __init__(self, levels=8):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(6, 12), nn.Sigmoid())
        self.dec = nn.Linear(12, 6)
        self.levels = levels

    def forward(self, x):
        h = self.enc(x)
        q = torch.round(h * (self.levels - 1)) / (self.levels - 1)
        h = h + (q - h).detach()
        return self.dec(h)


torch.manual_seed(3)
model = Quantised()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(16):
    x = torch.randn(8, 6)
    loss = nn.functional.mse_loss(model(x), x) / 2
    loss.backward()
    if step % 2 == 1:
        optimizer.step()
        optimizer.zero_grad()
print(f"{loss.item() * 2:.4f}")
