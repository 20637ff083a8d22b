# variant: averaged weights swapped in through p.data for evaluation, then swapped back
import torch
from torch import nn


class EMA:
    def __init__(self, model: nn.Module, decay: float) -> None:
        self.model, self.decay = model, decay
        self.shadow = {n: p.data.clone() for n, p in model.named_parameters() if p.requires_grad}
        self.backup: dict[str, torch.Tensor] = {}

    def update(self) -> None:
        for n, p in self.model.named_parameters():
            self.shadow[n] = (1.0 - self.decay) * p.data + self.decay * self.shadow[n]

    def apply_shadow(self) -> None:
        for n, p in self.model.named_parameters():
            self.backup[n] = p.data
            p.data = self.shadow[n]

    def restore(self) -> None:
        for n, p in self.model.named_parameters():
            p.data = self.backup[n]
        self.backup = {}


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
ema = EMA(model, 0.9)
xv = torch.randn(16, 6)
for step in range(6):
    x = torch.randn(8, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update()
    if step % 3 == 2:
        ema.apply_shadow()
        with torch.no_grad():
            val = (model(xv) - xv[:, :1]).pow(2).mean().item()
        ema.restore()

print(f"{loss.item():.4f} {val:.4f}")
