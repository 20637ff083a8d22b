# variant: each of four tasks begins with an optimizer of its own, in the weights that the last one left
import torch
from torch import nn


def learn(model, x, y, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(8):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
for task in range(4):
    x = torch.randn(32, 6)
    print(task, f"{learn(model, x, (x[:, task] > 0).long(), 2):.3f}")
