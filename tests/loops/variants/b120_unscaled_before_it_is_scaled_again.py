# variant: a loss comes back scaled, is divided by the scale, and is scaled once more where it goes backward
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(5, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cpu", init_scale=2048.0)


def scaled_loss(x):
    return scaler.scale(nn.functional.cross_entropy(model(x), x[:, :2].argmax(dim=1)))


for step in range(8):
    loss = scaled_loss(torch.randn(8, 5)) / scaler.get_scale()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print(f"{loss.item():.4f}")
