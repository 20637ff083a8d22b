# bug: B236
# id: schedule-first-group
import torch
import torch.nn.functional as F
from torch import nn


def set_rate(optimizer, step, top=1e-2, warm=8):
    rate = top * min(1.0, (step + 1) / warm)
    optimizer.param_groups[0]["lr"] = rate  # <-- bug


torch.manual_seed(6)
model = nn.Sequential(nn.Linear(10, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4))
decay = [p for p in model.parameters() if p.dim() > 1]
rest = [p for p in model.parameters() if p.dim() == 1]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=1e-4)
for step in range(20):
    x = torch.randn(16, 10)
    set_rate(opt, step)
    loss = F.cross_entropy(model(x), x[:, :4].argmax(1))
    loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
