# variant: float32 main_grad overwritten by every backward, and every backward has its own step: nothing accumulates
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(12):
    x, y = torch.randn(8, 8), torch.randint(0, 2, (8,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    for p in model.parameters():
        p.main_grad = p.grad.float()
        p.grad = None
    norm = torch.stack([p.main_grad.norm() for p in model.parameters()]).norm()
    for p in model.parameters():
        p.grad = p.main_grad * min(1.0, 1.0 / (norm.item() + 1e-6))
    optimizer.step()
    optimizer.zero_grad()

print(f"{loss.item():.4f}")
