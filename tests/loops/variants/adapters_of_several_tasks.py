# variant: tasks share weights that are trained, and each has a low-rank pair of its own beside them.
import torch
import torch.nn.functional as F
from torch import nn


class Shared(nn.Module):
    def __init__(self, n_in, n_out, tasks, rank=2):
        super().__init__()
        self.base = nn.Linear(n_in, n_out)
        self.down = nn.ModuleList([nn.Linear(n_in, rank, bias=False) for _ in range(tasks)])
        self.up = nn.ModuleList([nn.Linear(rank, n_out, bias=False) for _ in range(tasks)])
        for one in self.up:
            nn.init.zeros_(one.weight)

    def forward(self, x, task):
        return self.base(x) + self.up[task](self.down[task](x))


torch.manual_seed(0)
layer, head = Shared(8, 12, tasks=2), nn.Linear(12, 2)
optimizer = torch.optim.Adam([*layer.parameters(), *head.parameters()], lr=1e-2)
for _ in range(12):
    optimizer.zero_grad()
    for task in range(2):
        x = torch.randn(8, 8)
        loss = F.cross_entropy(head(F.relu(layer(x, task))), (x[:, task] > 0).long())
        loss.backward()
    optimizer.step()

one, other = Shared(8, 12, tasks=1), nn.Linear(12, 2)
optimizer = torch.optim.SGD([*one.parameters(), *other.parameters()], lr=0.1)
for step in range(16):
    x = torch.randn(8, 8)
    hidden = one(x, 0) if step % 2 == 0 else one.base(x)
    loss = F.cross_entropy(other(F.relu(hidden)), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f}")
