# bug: B239
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

cfg = {"lr": 3e-3, "warmup_steps": 20, "epochs": 4}

torch.manual_seed(10)
series = torch.randn(80, 9).cumsum(1)
loader = DataLoader(TensorDataset(series[:, :8], series[:, 8:]), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(8, 24), nn.GELU(), nn.Linear(24, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / cfg["warmup_steps"]))
for epoch in range(cfg["epochs"]):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"{epoch}: {loss.item():.4f} {scheduler.get_last_lr()[0]:.5f}")
