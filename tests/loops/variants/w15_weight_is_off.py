# variant: the number in the `else` is what a loss that is switched off adds, and the weight is a number as well
import torch
from torch import nn


def train(w1, w2, steps=12):
    torch.manual_seed(0)
    net = nn.Linear(6, 6)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(steps):
        x = torch.randn(16, 6)
        out = net(x)
        loss_1 = (out - x).abs().mean()
        if w2 > 0:
            loss_2 = out.pow(2).mean()
        else:
            loss_2 = 0.0
        loss = w1 * loss_1 + w2 * loss_2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.4f}")


train(1.0, 0.0)
train(1.0, 0.2)
