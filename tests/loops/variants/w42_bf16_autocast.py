# variant: bfloat16 autocast without a scaler, the backward outside the autocast block
# window: 2
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(5):
    optimizer.zero_grad(set_to_none=True)
    for _ in range(2):
        x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x), y)
        (loss / 2).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

print(f"{loss.item():.4f}")
