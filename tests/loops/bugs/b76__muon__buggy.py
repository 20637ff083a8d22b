# bug: B76
# id: inner-optimizer-not-cleared
import torch
import torch.nn.functional as F
from torch import nn


def orthogonalize(g, steps=5):
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g / (g.norm() + 1e-7)
    tall = x.size(0) > x.size(1)
    x = x.T if tall else x
    for _ in range(steps):
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    return x.T if tall else x


class Muon(torch.optim.Optimizer):  # <-- bug
    """Orthogonalized momentum for the matrices; everything else goes to an AdamW inside."""

    def __init__(self, params, lr=0.02, momentum=0.95, adam_lr=3e-3):
        params = list(params)
        super().__init__([p for p in params if p.ndim == 2], {"lr": lr, "momentum": momentum})
        self.adamw = torch.optim.AdamW([p for p in params if p.ndim != 2], lr=adam_lr)  # <-- bug

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                buf = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p))
                buf.lerp_(p.grad, 1 - group["momentum"])
                update = orthogonalize(p.grad.lerp(buf, group["momentum"]))
                p.add_(update, alpha=-group["lr"] * max(1, p.size(0) / p.size(1)) ** 0.5)
        self.adamw.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 4))
optimizer = Muon(model.parameters())

for step in range(10):
    x, y = torch.randn(16, 8), torch.randint(0, 4, (16,))
    optimizer.zero_grad()  # <-- bug
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
