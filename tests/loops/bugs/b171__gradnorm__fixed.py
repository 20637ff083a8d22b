# bug: B171
import torch
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh())
heads = nn.ModuleList([nn.Linear(16, 1), nn.Linear(16, 1)])
weights = nn.Parameter(torch.ones(2))
opt_net = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=1e-3)
opt_weights = torch.optim.SGD([weights], lr=1e-2)
first = None

for step in range(12):
    x = torch.randn(32, 6)
    targets = [x.sum(1, keepdim=True), 10 * x.prod(1, keepdim=True)]
    features = trunk(x)
    losses = torch.stack([nn.functional.mse_loss(h(features), y) for h, y in zip(heads, targets)])
    if first is None:
        first = losses.detach()
    opt_net.zero_grad()
    (weights @ losses).backward(retain_graph=True)
    shared = trunk[2].weight
    norms = torch.stack(
        [torch.autograd.grad(w * loss, shared, create_graph=True)[0].norm() for w, loss in zip(weights, losses)]
    )
    rate = losses.detach() / first
    wanted = norms.mean().detach() * (rate / rate.mean()) ** 0.5
    opt_weights.zero_grad()
    (norms - wanted).abs().sum().backward(inputs=[weights])
    opt_net.step()
    opt_weights.step()
