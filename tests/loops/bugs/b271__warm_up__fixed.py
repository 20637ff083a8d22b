# bug: B271
import torch
from torch import nn

WARMUP, BASE = 10, 0.05


def train(model, batches, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=BASE, momentum=0.9)
    global_step = 0
    for epoch in range(epochs):
        total = 0.0
        for x, y in batches:
            for group in optimizer.param_groups:
                group["lr"] = BASE * min(1.0, (global_step + 1) / WARMUP)
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            global_step += 1
            total += loss.item()
        print(f"{epoch} {total / len(batches):.4f}")


torch.manual_seed(2)
x = torch.randn(96, 6)
batches = list(zip(x.split(8), x[:, :3].argmax(1).split(8)))
train(nn.Sequential(nn.Linear(6, 20), nn.ReLU(), nn.Linear(20, 3)), batches, epochs=3)
