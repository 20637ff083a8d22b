# bug: B239
import math
from types import SimpleNamespace

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def cosine(k, total_steps):
    return max(0.0, math.cos(math.pi * 7 * k / (16 * total_steps)))


torch.manual_seed(0)
args = SimpleNamespace(epochs=4, iters_per_epoch=8)
loader = DataLoader(TensorDataset(torch.randn(64, 5), torch.randint(0, 3, (64,))), batch_size=8)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda x: cosine(x, args.iters_per_epoch * args.epochs))
for epoch in range(args.epochs):
    for x, y in loader:
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(epoch, f"{loss.item():.4f}", scheduler.get_last_lr())
