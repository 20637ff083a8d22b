# variant: soft weight sharing by gossip: two models that both train, and after each step both move towards the other
import copy

import torch
from torch import nn

torch.manual_seed(0)
left = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
right = copy.deepcopy(left)
optimizers = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (left, right)]


@torch.no_grad()
def gossip(a, b, share=0.25):
    for p, q in zip(a.parameters(), b.parameters()):
        gap = share * (q - p)
        p.add_(gap)
        q.sub_(gap)


for step in range(10):
    for model, optimizer in zip((left, right), optimizers):
        x = torch.randn(16, 6)  # each has data of its own
        loss = nn.functional.mse_loss(model(x), x[:, :1] * x[:, 1:2])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    gossip(left, right)

print(f"{loss.item():.4f}")
