# bug: B90
import torch
from torch import nn


def photometric(warped, target):
    return (warped - target).abs().mean()


def explainability(mask):
    return nn.functional.binary_cross_entropy_with_logits(mask, torch.ones_like(mask))


def train(weights, steps=24):
    w1, w2 = weights
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 7))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(steps):
        image = torch.randn(16, 6)
        out = net(image)
        warped, mask = out[:, :6], out[:, 6:]
        loss_1 = photometric(warped * mask.sigmoid(), image)
        if w2 > 0:
            loss_2 = explainability(mask)
        else:
            loss_2 = 0
        loss = w1 * loss_1 + w2 * loss_2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.4f} {float(loss_2):.4f}")


train((1.0, 0.2))
