# variant: pretrained weights loaded (no optimizer state), a new head, plain accumulation from the first batch on
import io

import torch
from torch import nn

torch.manual_seed(0)
file = io.BytesIO()
torch.save({"state_dict": nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 10)).state_dict(), "step": 5}, file)
file.seek(0)
pretrained = torch.load(file)["state_dict"]

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
weights = {name: value for name, value in pretrained.items() if not name.startswith("2.")}
missing, unexpected = model.load_state_dict(weights, strict=False)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
accumulate = 4
for i in range(36):
    x, y = torch.randn(4, 6), torch.randint(0, 3, (4,))
    loss = nn.functional.cross_entropy(model(x), y) / accumulate
    loss.backward()
    if (i + 1) % accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item() * accumulate:.4f} {missing}")
