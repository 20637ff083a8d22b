# bug: B262
import math

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


def warmup_cosine(optimizer, warmup, total):
    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))

    return LambdaLR(optimizer, factor)


def train(model, batches, epochs):
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    schedule = warmup_cosine(optimizer, 2, epochs * len(batches))
    for epoch in range(epochs):
        for x, y in batches:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(epoch, f"{loss.item():.4f}", optimizer.param_groups[0]["lr"])


torch.manual_seed(7)
x = torch.randn(96, 5)
batches = list(zip(x.split(8), x[:, :3].argmax(1).split(8)))
train(nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 3)), batches, epochs=2)
