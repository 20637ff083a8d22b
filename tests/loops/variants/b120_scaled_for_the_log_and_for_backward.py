# variant: the scaled loss is logged, and the plain one is scaled anew; a penalty uses gradients of a scaled one
import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(5, 8), nn.Softplus(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for step in range(8):
    x = torch.randn(8, 5, requires_grad=True)
    loss = (model(x) - x[:, :1].detach()).square().mean()
    print(scaler.scale(loss).item())
    (slope,) = torch.autograd.grad(scaler.scale(loss), x, create_graph=True)
    loss = loss + (slope / scaler.get_scale()).square().sum()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
