# bug: B91
import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
params = list(model.parameters())
optimizer = torch.optim.SGD(params, lr=0.05)
for _ in range(12):
    x, y = torch.randn(16, 6), 5 * torch.randn(16, 1)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    clip_grad_norm_(params, 0.1)
    optimizer.step()
