# bug: B75
import torch
from torch import nn


def run(model, batches, epochs, accumulate):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(epochs):
        for i, (x, y) in enumerate(batches):
            loss = nn.functional.cross_entropy(model(x), y) / accumulate
            loss.backward()
            if (i + 1) % accumulate == 0 or i + 1 == len(batches):
                optimizer.step()
                optimizer.zero_grad()
        print(epoch, f"{loss.item() * accumulate:.4f}")


torch.manual_seed(7)
points = torch.randn(150, 5)
labels = points[:, :4].argmax(1)
batches = list(zip(points.split(10), labels.split(10)))
run(nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 4)), batches, epochs=4, accumulate=4)
