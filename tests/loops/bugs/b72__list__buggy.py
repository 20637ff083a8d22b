# bug: B72
# id: outside-buffer-overwritten
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
micro_batches = 4

for step in range(9):
    for _ in range(micro_batches):
        x, y = torch.randn(4, 8), torch.randn(4, 2)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.mse_loss(model(x).float(), y) / micro_batches
        loss.backward()
        for p in model.parameters():
            p.main_grad = p.grad.float()  # <-- bug
            p.grad = None
    for p in model.parameters():
        p.grad = p.main_grad  # <-- bug
    optimizer.step()
    optimizer.zero_grad()
print(f"{loss.item() * micro_batches:.4f}")
