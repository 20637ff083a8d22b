# variant: float16 autocast, accumulated; a corrupt row makes the gradient inf and the scaler leaves that step out
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(80, 6)
x[37, 1] = 1e7  # inf in float16
loader = DataLoader(TensorDataset(x, torch.randint(0, 3, (80,))), batch_size=4)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for i, (inputs, labels) in enumerate(loader):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(inputs), labels) / 2
    scaler.scale(loss).backward()
    if i % 2 == 1:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

print(f"scale {scaler.get_scale()}")
