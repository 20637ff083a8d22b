# bug: B118
# id: clipped-first-group
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 3))
decay = [p for p in model.parameters() if p.dim() > 1]
rest = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decay}, {"params": rest, "weight_decay": 0.0}], lr=1e-3)

for step in range(20):
    rate = 1e-2 * min(1.0, (step + 1) / 5)
    for group in optimizer.param_groups:
        group["lr"] = rate
    x = torch.randn(16, 6)
    loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(group["params"], 0.1)  # <-- bug
    optimizer.step()
