# bug: B59
import torch
from torch import nn

torch.manual_seed(0)
layers = [layer for _ in range(40) for layer in (nn.Linear(8, 8), nn.Tanh())]
model = nn.Sequential(*layers, nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
batches = [(torch.randn(4, 8), torch.randn(4, 1)) for _ in range(14)]
done = 0
for i, (x, y) in enumerate(batches):
    steps = 1 if i < 2 else 3
    nn.functional.mse_loss(model(x), y).backward()
    done += 1
    if done == steps:
        for p in model.parameters():
            if p.grad is not None:
                p.grad /= steps
        optimizer.step()
        optimizer.zero_grad()
        done = 0
