# variant: the input's own gradient is inf where a distance is zero; the parameters' gradients are finite
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(10):
    x = torch.rand(8, 4)
    if step == 3:
        x[2, 0] = 0.0
    x.requires_grad_()
    energy = model(x).squeeze(1) + x[:, 0].sqrt()  # sqrt has slope inf at 0, and only x sees it
    loss = (energy - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.4f}, largest force {x.grad.abs().max().item():.3f}")
