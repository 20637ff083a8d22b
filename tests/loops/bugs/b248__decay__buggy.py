# bug: B248
# id: gradients-nobody-uses
import torch
from torch import nn


def build(model, decay=0.01):
    matrices = (p for p in model.parameters() if p.dim() > 1)
    vectors = (p for p in model.parameters() if p.dim() == 1)
    for p in vectors:  # <-- bug
        assert p.requires_grad
    groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-2)


torch.manual_seed(2)
model = nn.Sequential(nn.Linear(5, 12), nn.LayerNorm(12), nn.GELU(), nn.Linear(12, 1))
optimizer = build(model)
for step in range(20):
    x = torch.randn(24, 5)
    loss = (model(x).squeeze(1) - x.sin().sum(1)).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(f"{loss.item():.4f}")
