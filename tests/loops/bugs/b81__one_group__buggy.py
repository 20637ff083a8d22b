# bug: B81
# id: gradients-nobody-uses
import torch
from torch import nn


def make_optimizer(model, decay):
    heavy = [p for p in model.parameters() if p.dim() >= 2]
    light = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": heavy, "weight_decay": decay}, {"params": light, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups[:1], lr=1e-2)  # <-- bug
    return optimizer


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 3))
optimizer = make_optimizer(model, 0.1)  # <-- bug
for _ in range(20):
    x = torch.randn(16, 6)
    nn.functional.cross_entropy(model(x), x[:, :3].argmax(1)).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
