# bug: B159
import torch
import torch.nn.functional as F
from torch import nn


def smoothness(model, x, step=0.1):
    """How much the answers change with a small change of what is asked."""
    return (model(x + step * torch.randn_like(x)) - model(x)).pow(2).mean()


def train(model, data):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for x, y in data:
        fit = F.binary_cross_entropy_with_logits(model(x), y)
        smooth = smoothness(model, x)
        loss = fit + 0.5 * smooth
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{fit.item():.3f} {smooth.item():.4f}")


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
inputs = [torch.randn(24, 4) for _ in range(15)]
train(model, [(x, (x[:, :1] * x[:, 1:2] > 0).float()) for x in inputs])
