# variant: the parameters are views of one flat tensor, which is stepped and averaged by hand
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1))
flat = torch.cat([p.detach().flatten() for p in model.parameters()])
at = 0
for p in model.parameters():
    p.data = flat[at : at + p.numel()].view_as(p)
    at += p.numel()
average, speed = flat.clone(), torch.zeros_like(flat)
for step in range(20):
    x = torch.randn(8, 5)
    loss = (model(x) - x.sum(dim=1, keepdim=True)).pow(2).mean()
    loss.backward()
    gradient = torch.cat([p.grad.flatten() for p in model.parameters()])
    for p in model.parameters():
        p.grad = None
    speed.mul_(0.9).add_(gradient)
    flat.add_(speed, alpha=-0.02)
    average.mul_(0.9).add_(flat, alpha=0.1)
print(loss.item())
