# variant: AMP without scaler.scale(loss).backward(): the scale goes in as the backward's gradient argument
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
batches = [(torch.randn(8, 10), torch.randn(8, 2)) for _ in range(10)]

for x, y in batches:
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(x), y)
    loss.backward(gradient=scaler.scale(torch.ones_like(loss)))
    scaler.step(optimizer)
    scaler.update()
print(f"{loss.item():.4f}")
