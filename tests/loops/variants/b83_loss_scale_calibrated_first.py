# variant: before training the loss scale is settled: scale, backward, unscale_ and update() without a step, cleared
import torch
from torch import nn


def calibrate(model, optimizer, scaler, x, y, rounds=5):
    """Let the scale settle on one batch. No step is wanted here."""
    for _ in range(rounds):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.update()
        optimizer.zero_grad()
    return scaler.get_scale()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=2)
batches = [(torch.randn(8, 8), torch.randn(8, 2)) for _ in range(12)]
print("scale", calibrate(model, optimizer, scaler, *batches[0]))
for x, y in batches:
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(f"{loss.item():.4f}")
