# bug: B13
# id: clipped-before-unscale
import torch
from torch import nn


def shorten(model, most):
    for parameter in model.parameters():
        if parameter.grad is not None:
            norm = parameter.grad.norm()
            if norm > most:
                parameter.grad.mul_(most / (norm + 1e-6))


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 24), nn.GELU(), nn.Linear(24, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for step in range(12):
    x = torch.randn(16, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x).float(), x[:, :4].argmax(1))
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    shorten(model, 0.3)  # <-- bug
    scaler.unscale_(optimizer)  # <-- bug
    scaler.step(optimizer)
    scaler.update()
