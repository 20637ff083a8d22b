# bug: B279
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
shared = nn.Sequential(nn.Linear(6, 16), nn.Tanh())
first, second = nn.Linear(16, 1), nn.Linear(16, 1)
optimizer = torch.optim.SGD([*shared.parameters(), *first.parameters(), *second.parameters()], lr=1e-2)

for _ in range(20):
    x = torch.randn(8, 6)
    z = shared(x)
    losses = [F.mse_loss(first(z), x.sum(1, keepdim=True)), F.mse_loss(second(z), x[:, :1])]
    taken = []
    optimizer.zero_grad()
    for loss in losses:
        shared.zero_grad()
        loss.backward(retain_graph=True)
        taken.append([p.grad.clone() for p in shared.parameters()])
    for p, one, other in zip(shared.parameters(), *taken):
        p.grad = (one + other) / 2
    optimizer.step()
