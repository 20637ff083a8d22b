# variant: momentum that begins as the first gradient itself; the clear sets None, and the next one is another tensor
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
velocity = {}


@torch.no_grad()
def step(lr=0.02, mu=0.8):
    for name, p in model.named_parameters():
        g = p.grad
        g.mul_(0.5)
        if name in velocity:
            velocity[name].mul_(mu).add_(g)
        else:
            velocity[name] = g
        p.sub_(velocity[name], alpha=lr)


for _ in range(20):
    x = torch.randn(16, 8)
    nn.functional.mse_loss(model(x), x[:, :1].sin()).backward()
    step()
    for p in model.parameters():
        p.grad = None
