# variant: means under `% accum` that nothing divides: the learning rate is divided by accum
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
base_lr, accum = 0.2, 4
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=base_lr / accum)
for i in range(16):
    x = torch.randn(8, 6)
    loss = F.mse_loss(model(x), x[:, :1]) + F.l1_loss(model(x), x[:, :1])
    loss.backward()
    if (i + 1) % accum == 0:
        optimizer.step()
        optimizer.zero_grad()
