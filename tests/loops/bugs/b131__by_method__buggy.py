# bug: B131
# id: penalty-without-graph
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
D = nn.Sequential(nn.Linear(6, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
optimizer = torch.optim.Adam(D.parameters(), lr=1e-3)
every = 4
for idx in range(24):
    real, fake = torch.randn(8, 6), torch.randn(8, 6)
    optimizer.zero_grad()
    real.requires_grad = True
    loss_fake = F.softplus(D(fake)).mean()
    loss_real = F.softplus(-D(real)).mean()
    if idx % every == 0:
        grads = torch.autograd.grad(outputs=loss_real, inputs=real, retain_graph=True)[0]  # <-- bug
        loss_r1 = grads.square().sum(1) * 5
        (loss_fake + loss_real + loss_r1).mean().mul(every).backward()
    else:
        (loss_fake + loss_real).mean().backward()
    optimizer.step()
