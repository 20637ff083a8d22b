# bug: B149
# id: gradients-nobody-uses
"""One body, and a head for each task."""

import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
        self.heads = {task: nn.Linear(24, size) for task, size in tasks.items()}  # <-- bug

    def forward(self, x):
        features = self.body(x)
        return {task: head(features) for task, head in self.heads.items()}


def losses(said, x):
    yield nn.functional.cross_entropy(said["kind"], x[:, :3].argmax(1))
    yield nn.functional.mse_loss(said["size"], x.norm(dim=1, keepdim=True))


torch.manual_seed(2)
model = MultiTask({"kind": 3, "size": 1})
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
model.train()
for step in range(15):
    x = torch.randn(32, 6)
    optimizer.zero_grad()
    loss = sum(losses(model(x), x))
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        print(f"{step}: {loss.item():.3f}")
