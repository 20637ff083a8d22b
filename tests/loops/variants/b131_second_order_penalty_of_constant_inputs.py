# variant: a penalty with its graph, of inputs that have none, is the first term of a difference
import torch
from torch import nn

torch.manual_seed(3)
critic = nn.Sequential(nn.Linear(2, 16), nn.Softplus(), nn.Linear(16, 1))
maker = nn.Linear(3, 2)
for_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)


def penalty(real, fake):
    x = (0.5 * (real + fake)).requires_grad_()
    slope = torch.autograd.grad(critic(x).sum(), x, create_graph=True)[0]
    return (slope.norm(dim=1) - 1).pow(2).mean()


for real in torch.randn(8, 16, 2) + 1:
    with torch.no_grad():
        fake = maker(torch.randn(16, 3))
    extra = penalty(real, fake)
    distance = critic(real).mean() - critic(fake).mean()
    for_critic.zero_grad()
    (extra - distance).backward()
    for_critic.step()
