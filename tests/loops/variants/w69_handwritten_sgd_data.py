# variant: hand-written SGD through p.data, cleared with p.grad.zero_() (the fast.ai lesson)
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
x, y = torch.randn(32, 6), torch.randn(32, 1)


def update(xb: torch.Tensor, yb: torch.Tensor, lr: float) -> float:
    loss = nn.functional.mse_loss(model(xb), yb)
    loss.backward()
    for p in model.parameters():
        p.data -= lr * p.grad
        p.grad.zero_()
    return loss.item()


losses = [update(xb, yb, 0.05) for _ in range(3) for xb, yb in zip(x.split(8), y.split(8))]
print(f"{losses[0]:.4f} {losses[-1]:.4f}")
