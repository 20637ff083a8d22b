# bug: B279
# id: zeroed-inside-window
import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(5, 12)
        self.heads = nn.ModuleList(nn.Linear(12, n) for n in (2, 3, 1))

    def forward(self, x):
        h = torch.relu(self.trunk(x))
        return [head(h) for head in self.heads]


def project(grads):
    """Each task's gradient without what is against another one's, as in gradient surgery."""
    flat = [torch.cat([g.flatten() for g in one]) for one in grads]
    total = torch.zeros_like(flat[0])
    for i, one in enumerate(flat):
        for j, other in enumerate(flat):
            if i != j and (dot := one @ other) < 0:
                one = one - dot / other.pow(2).sum() * other
        total = total + one
    return total


torch.manual_seed(1)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
trunk = list(model.trunk.parameters())
for _ in range(16):
    x = torch.randn(10, 5)
    a, b, c = model(x)
    losses = F.cross_entropy(a, (x[:, 0] > 0).long()), F.cross_entropy(b, x[:, :3].argmax(1)), F.mse_loss(c, x[:, 4:])
    grads = []
    for loss in losses:
        model.zero_grad()  # <-- bug
        loss.backward(retain_graph=True)
        grads.append([p.grad.detach().clone() for p in trunk])
    flat, at = project(grads), 0
    for p in trunk:
        p.grad = flat[at : at + p.numel()].view_as(p)
        at += p.numel()
    optimizer.step()
