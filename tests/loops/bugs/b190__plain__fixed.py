# bug: B190
import torch
from torch import nn

torch.manual_seed(0)


def l2(model):
    return sum(p.pow(2).sum() for p in model.parameters())


model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), 1e-2)
for _ in range(20):
    x = torch.randn(16, 6)
    y = x.sum(1, keepdim=True)
    loss = nn.functional.mse_loss(model(x), y) + 1e-3 * l2(model)
    opt.zero_grad()
    loss.backward()
    opt.step()
