# variant: LBFGS whose closure clears and then goes through all micro-batches
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)).double()
x, y = torch.randn(24, 6, dtype=torch.float64), torch.randn(24, 1, dtype=torch.float64)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)


def closure() -> float:
    optimizer.zero_grad()
    total = 0.0
    for xb, yb in zip(x.split(8), y.split(8)):
        loss = nn.functional.mse_loss(model(xb), yb, reduction="sum") / len(x)
        loss.backward()
        total += loss.item()
    return total


losses = [optimizer.step(closure) for _ in range(4)]
print(" ".join(f"{v:.4f}" for v in losses))
