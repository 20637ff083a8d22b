# variant: Muon with an AdamW inside, whose parameters stand in Muon's groups too: the inherited zero_grad clears all
import torch
from torch import nn


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr: float = 0.02, momentum: float = 0.95) -> None:
        params = list(params)
        matrices = {"params": [p for p in params if p.ndim == 2], "use_muon": True}
        vectors = {"params": [p for p in params if p.ndim != 2], "use_muon": False}
        super().__init__([matrices, vectors], {"lr": lr, "momentum": momentum})
        self.adamw = torch.optim.AdamW(vectors["params"], lr=3e-3)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            if not group["use_muon"]:
                continue
            for p in group["params"]:
                buf = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p))
                buf.mul_(group["momentum"]).add_(p.grad)
                u, _, v = torch.linalg.svd(buf, full_matrices=False)
                p.add_(u @ v, alpha=-group["lr"])
        self.adamw.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 4))
optimizer = Muon(model.parameters())
for step in range(10):
    x, y = torch.randn(16, 8), torch.randint(0, 4, (16,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

print(f"{loss.item():.4f}")
