# variant: the learning rate is set after every micro-batch, by a function that was told how many of those there are
import math

import torch
from torch import nn


def cosine(optimizer, warmup, total):
    def factor(step):
        if step < warmup:
            return step / warmup
        return 0.5 * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


torch.manual_seed(0)
k, epochs = 4, 2
data = [(x := torch.randn(6, 5), x.sum(1, keepdim=True)) for _ in range(24)]
model = nn.Linear(5, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scheduler = cosine(optimizer, 4, epochs * len(data))
for _ in range(epochs):
    for i, (x, y) in enumerate(data):
        (nn.functional.mse_loss(model(x), y) / k).backward()
        if (i + 1) % k == 0:
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()
