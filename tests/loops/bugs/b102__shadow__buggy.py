# bug: B102
# id: average-shares-memory
import torch
import torch.nn.functional as F
from torch import nn


class EMA:
    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.shadow = {}
        for name, p in model.named_parameters():
            if p.requires_grad:
                self.shadow[name] = p.data  # <-- bug

    def update(self, model):
        for name, p in model.named_parameters():
            if p.requires_grad:
                self.shadow[name].mul_(self.decay).add_(p.data, alpha=1.0 - self.decay)

    @torch.no_grad()
    def write(self, model):
        for name, p in model.named_parameters():
            p.copy_(self.shadow[name])


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
ema = EMA(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(20):
    x = torch.randn(8, 5)
    loss = F.cross_entropy(model(x), x[:, :3].argmax(dim=1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)
ema.write(model)
print(f"{loss.item():.4f}")
