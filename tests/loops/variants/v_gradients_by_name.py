# variant: gradients with names that are bound anew, and read: a norm, a step by hand, one put back, a list of new ones
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
norms = []
for step in range(16):
    x = torch.randn(32, 4)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
    for p in model.parameters():
        g = p.grad
        g = g / 2
        norms.append(float(g.norm()))
    for p in model.parameters():
        grad = p.grad
        grad = grad * 0.9
        p.grad = grad
    flat = [p.grad for p in model.parameters()]
    flat = [h * 0.9 for h in flat]
    for p, h in zip(model.parameters(), flat):
        h = h.clamp(-1, 1)
        p.grad.copy_(h)
    falling = model[0].weight.grad
    for _ in range(3):
        norms.append(float(falling.norm()))
        falling = falling * 0.5
    optimizer.step()
