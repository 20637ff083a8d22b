# variant: a gradient's name is bound anew in an inner loop; what it holds in the end goes to a new list that is used
import torch
import torch.nn.functional as F
from torch import nn


def surgery(task_grads):
    """What of a task's gradient contradicts another task's is taken out of it."""
    projected = []
    for grad in task_grads:
        for other in task_grads:
            dot = torch.dot(grad, other)
            if dot < 0:
                grad = grad - dot / other.dot(other) * other
        projected.append(grad)
    return torch.stack(projected).sum(0)


class MultiTask(nn.Module):
    def __init__(self, tasks=3):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(24, 1) for _ in range(tasks))

    def forward(self, x):
        hidden = self.shared(x)
        return [head(hidden).squeeze(1) for head in self.heads]


torch.manual_seed(0)
model = MultiTask()
shared = list(model.shared.parameters())
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(15):
    x = torch.randn(32, 6)
    targets = x.sum(1), -x[:, :3].sum(1), x[:, 0] * x[:, 1]
    losses = [F.mse_loss(out, target) for out, target in zip(model(x), targets)]
    task_grads = [torch.cat([g.flatten() for g in torch.autograd.grad(e, shared, retain_graph=True)]) for e in losses]
    optimizer.zero_grad()
    sum(losses).backward()
    merged = surgery(task_grads)
    for p, g in zip(shared, merged.split([p.numel() for p in shared])):
        p.grad.copy_(g.view_as(p))
    optimizer.step()
