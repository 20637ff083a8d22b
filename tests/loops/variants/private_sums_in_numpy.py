# variant: each micro-batch's gradient is clipped and summed in NumPy, cleared, and the mean written back through a view
import numpy as np
import torch
from torch import nn


def clipped(params, limit):
    views = [p.grad.numpy().reshape(-1) for p in params]
    norm = np.sqrt(sum(float(np.dot(view, view)) for view in views))
    if norm > limit:
        for view in views:
            view *= limit / norm


def step(model, optimizer, x, y):
    params = list(model.parameters())
    total = [np.zeros(p.shape, np.float32) for p in params]
    for rows in torch.arange(len(x)).split(8):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        clipped(params, 0.5)
        for held, p in zip(total, params):
            held += p.grad.numpy()
    for held, p in zip(total, params):
        np.divide(held, len(x) // 8, out=p.grad.numpy())
    optimizer.step()
    return loss.item()


torch.manual_seed(16)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.8)
for turn in range(40):
    x = torch.randn(48, 6)
    loss = step(model, optimizer, x, x[:, :3].argmax(1))
    if turn % 10 == 9:
        print(f"{loss:.4f}")
