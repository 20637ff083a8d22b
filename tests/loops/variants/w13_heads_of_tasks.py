# variant: a head for each task in a list, all of them run, and the loss takes the one of the task at hand
import torch
from torch import nn


class Multitask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 12), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(12, 2) for _ in range(tasks))

    def forward(self, x):
        hidden = self.body(x)
        return [head(hidden) for head in self.heads]


torch.manual_seed(0)
model = Multitask(3)
for task in range(3):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(12):
        x, y = torch.randn(8, 6), torch.randint(0, 2, (8,))
        loss = nn.functional.cross_entropy(model.forward(x)[task], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print(f"{loss.item():.4f}")
