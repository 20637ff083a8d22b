# variant: the loss shows the penalty without a graph, and the optimizer does what it says
import torch
from torch import nn

torch.manual_seed(0)


def l2(model):
    return sum(p.data.pow(2).sum() for p in model.parameters())


model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.SGD(model.parameters(), 1e-2, weight_decay=2e-3)
for _ in range(20):
    x = torch.randn(16, 6)
    y = x.sum(1, keepdim=True)
    loss = nn.functional.mse_loss(model(x), y) + 1e-3 * l2(model)
    opt.zero_grad()
    loss.backward()
    opt.step()
