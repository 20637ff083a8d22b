# variant: bfloat16 model with float32 master weights: summed and stepped on the masters, copied back
# window: 4
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1)).bfloat16()
master_params = [p.detach().clone().float().requires_grad_() for p in model.parameters()]
optimizer = torch.optim.AdamW(master_params, lr=1e-2)
for step in range(5):
    for master in master_params:
        master.grad = torch.zeros_like(master)
    for _ in range(4):
        x = torch.randn(4, 6)
        loss = (model(x.bfloat16()).float() - x[:, :1]).pow(2).mean()
        (loss / 4).backward()
        for p, master in zip(model.parameters(), master_params):
            master.grad.add_(p.grad.float())
            p.grad = None
    torch.nn.utils.clip_grad_norm_(master_params, 1.0)
    optimizer.step()
    with torch.no_grad():
        for p, master in zip(model.parameters(), master_params):
            p.copy_(master)

print(f"{loss.item():.4f}")
