# variant: the last window is closed at the top of the loop, before the guard can pass over anything
import torch
from torch import nn


def close_window(model, optimizer, good):
    if good:
        for p in model.parameters():
            p.grad.div_(good)
        optimizer.step()
    optimizer.zero_grad()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
batches = [(torch.randn(6, 6), torch.randn(6, 2)) for _ in range(40)]
for bad in (7, 13, 19, 30):
    batches[bad][1][3] = float("inf")
k, good = 4, 0
for i, (x, y) in enumerate(batches):
    if i and i % k == 0:
        close_window(model, optimizer, good)
        good = 0
    loss = nn.functional.smooth_l1_loss(model(x), y)
    if not loss.isfinite():
        print(f"batch {i}: {loss.item()}")
        continue
    loss.backward()
    good += 1
close_window(model, optimizer, good)
