# bug: B237
# id: gradient-read-when-cleared
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(8, 32), nn.SiLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def grad_norm(parameters):
    total = 0.0
    for w in parameters:
        if w.grad is None:  # <-- bug
            continue
        total += w.grad.norm().item() ** 2
    return total**0.5


for it in range(16):
    x = torch.randn(12, 8)
    loss = F.mse_loss(model(x), x.prod(1, keepdim=True))
    loss.backward()
    opt.step()
    opt.zero_grad()
    print(it, loss.item(), grad_norm(model.parameters()))
