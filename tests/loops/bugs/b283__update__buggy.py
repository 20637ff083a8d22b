# bug: B283
# id: named-and-not-called
"""A scaler that is never updated, since the parentheses of the call are missing."""

import torch
from torch import nn


def train(model, optimizer, scaler, batches):
    for x in batches:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(x), x[:, :1])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update  # <-- bug


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
train(net, torch.optim.SGD(net.parameters(), lr=0.01), torch.amp.GradScaler("cpu"), torch.randn(1, 8, 6))
