# variant: the learning rate written at every micro-batch, always the same inside one window
# window: 4
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
accum = 4


def adjust_learning_rate(step: int) -> None:
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * 0.9**step


for i in range(24):
    adjust_learning_rate(i // accum)
    x = torch.randn(4, 6)
    loss = (model(x) - x[:, :1]).pow(2).mean()
    (loss / accum).backward()
    if i % accum == accum - 1:
        optimizer.step()
        optimizer.zero_grad()

print(f"{loss.item():.4f}")
