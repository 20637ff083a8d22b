# bug: B118
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
decayed = [p for p in model.parameters() if p.dim() > 1]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decayed}, {"params": others, "weight_decay": 0.0}], lr=0.01)
for x in torch.randn(20, 8, 6):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x[:, :1]).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
